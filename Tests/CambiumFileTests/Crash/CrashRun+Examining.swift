import CambiumCore
import TestSupport

@testable import CambiumFile

/// What must be found of a run wherever it was cut off.
extension CrashRun {
  /// What the device had last done before `count` operations and what was promised then, for people.
  func story(before count: Int) -> String {
    let lines = device.operations.prefix(count).enumerated().suffix(40).map { number, operation in
      switch operation {
      case .write(let bytes, let offset): "\(number): \(bytes.count) bytes at \(offset)"
      case .truncate(let byteCount): "\(number): cut to \(byteCount) bytes"
      case .sync(let end): "\(number): synced what came before \(end)"
      case .failedSync(let end): "\(number): failed to sync what came before \(end)"
      }
    }
    let (least, most) = promised(count)
    return (lines + ["promised: \(least)...\(most)"]).joined(separator: "\n")
  }

  /// Which version everybody sees after `count` operations, and what is said to be durable; nil while
  /// there was no store.
  func shared(after count: Int) -> (live: Version, mark: DurableMark)? {
    let memory = SharedMemory()
    trail[count].restore(memory)
    guard let identity, let live = memory.live(identity), let mark = memory.durableMark else {
      return nil
    }
    return (live.version, mark)
  }

  /// The state of promises when power is cut after `count` operations.
  private func promised(_ count: Int) -> (least: Point, most: Point) {
    let made = promises.prefix { $0.operationCount <= count }
    let most = begun.prefix { $0.operationCount <= count }.map(\.point).max()
    let least = made.last?.durable ?? Point(epoch: 0, version: 0)
    return (least, most ?? least)
  }

  /// Opens `image`, which the disk may hold after `count` operations, and says what is wrong with it;
  /// whether it could be opened.
  func examine(_ image: [UInt8], after count: Int) -> (findings: [String], isOpened: Bool) {
    let (least, most) = promised(count)
    let place = "operation \(count), \(settings)"
    do throws(StoreError) {
      let store = try FileStore(
        path: "simulated", options: CrashSettings.options(SimulatedDevice(image)))
      let head = try store.newestHead()
      let point = Point(head)
      guard point >= least, point <= most else {
        return (["\(place): \(point) is not in \(least)...\(most)"], false)
      }
      let (content, found) = try Work(store).read()
      var findings = found
      if content != self.content(of: point, after: count) {
        findings.append("\(point) has another content: that of \(points(with: content))")
      }
      return (findings.map { "\(place), \(point): \($0)" }, true)
    } catch {
      return (["\(place), \(least)...\(most): \(error)"], false)
    }
  }
}
