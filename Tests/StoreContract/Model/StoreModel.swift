import CambiumCore

/// Drives a store at random and compares every version that something holds with what was
/// committed.
public final class StoreModel {
  /// A pinned version and what it must read.
  private struct Held {
    var pin: Pin
    var content: FakeTree.Content
  }

  private let store: any PageStore
  private var generator: SeededGenerator
  private var held: [Held] = []
  private let durabilities: [Durability]
  /// What the newest version must read.
  public private(set) var content: FakeTree.Content = []
  /// What went wrong, for people; empty when all is well.
  public private(set) var findings: [String] = []

  /// A model that begins at the store's newest version.
  public init(
    _ store: any PageStore, seed: UInt64, durabilities: [Durability] = Durability.allCases
  ) throws(StoreError) {
    self.store = store
    self.durabilities = durabilities
    generator = SeededGenerator(seed: seed)
    content = try FakeTree.read(store).content
  }

  /// Lets every pin go.
  public func releaseAll() { held = [] }

  /// Does `count` random things, checking after each.
  public func run(_ count: Int) throws(StoreError) {
    for step in 0..<count {
      try self.step()
      try check("step \(step)")
    }
  }

  private func step() throws(StoreError) {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: held.append(Held(pin: try store.pin(), content: content))
    case 1:
      if !held.isEmpty { held.remove(at: Int.random(in: held.indices, using: &generator)) }
    case 2:
      let writer = try store.beginWrite()
      _ = try FakeTree.change(writer, store, changeCount: 5, generator: &generator)
      if Bool.random(using: &generator) { writer.abort() }
    case 3: try store.sync()
    default: try commit()
    }
  }

  /// Commits one random change.
  public func commit() throws(StoreError) {
    let writer = try store.beginWrite()
    let changeCount = Int.random(in: 1...6, using: &generator)
    let (root, content) = try FakeTree.change(
      writer, store, changeCount: changeCount, generator: &generator)
    let durability = durabilities.randomElement(using: &generator) ?? .full
    let pin = try writer.publish(
      root: root, durability: durability, metadata: [UInt8](repeating: 7, count: changeCount))
    if pin.head.version != writer.base.version + 1 { findings.append("a version was left out") }
    self.content = content
  }

  /// Reads every held version, and asks the store to check itself.
  public func check(_ place: String) throws(StoreError) {
    let newest = try FakeTree.read(store)
    if newest.content != content { findings.append("\(place): the newest version differs") }
    for held in held {
      let reading = try FakeTree.read(held.pin, store)
      if reading.content != held.content {
        findings.append("\(place): version \(held.pin.head.version) differs")
      }
      findings += lent(held.pin, reading).map { "\(place): \($0)" }
    }
    findings += try store.check(reachable: newest.extents).map { "\(place): \($0)" }
  }

  /// Compares what the pin lends with what the store reads.
  private func lent(_ pin: Pin, _ reading: FakeTree.Reading) -> [String] {
    guard let base = unsafe pin.base else { return [] }
    var findings: [String] = []
    for child in reading.children {
      if child.byteOffset + child.byteCount > pin.readableByteCount {
        findings.append("a page lies behind what the pin lends")
      } else if unsafe Checksum.hash(base + child.byteOffset, child.byteCount) != child.checksum {
        findings.append("the lent page at byte \(child.byteOffset) differs")
      }
    }
    return findings
  }
}
