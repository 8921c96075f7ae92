import CambiumCore
import Foundation

/// What becomes of a store whose stored bytes were changed.
extension StoreContract {
  static let damage: [ContractCase<StoreSubject>] = [
    ContractCase(
      "damaged files are an error, or show a version that was committed",
      unless: { $0.isPersistent && $0.hasFiles ? nil : "it has no files" }
    ) { run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 1, durabilities: [.full])
      var contents: [FakeTree.Content] = [[]]
      for _ in 0..<12 {
        try model.commit()
        contents.append(model.content)
      }
      try store.close()
      let path = try run.place().path
      for seed in 0..<40 as Range<UInt64> {
        var generator = SeededGenerator(seed: seed)
        let place = "damage \(seed)"
        let copy = try run.place("copy-\(seed)")
        try FileManager.default.copyItem(atPath: path, toPath: copy.path)
        let files = try Self.files(under: copy.path)
        guard let file = files.randomElement(using: &generator) else {
          return run.note("a persistent store without a file at its path")
        }
        let what = try Self.damage(file, &generator)
        do throws(StoreError) {
          let damaged = try run.subject.open(copy)
          let reading = try FakeTree.read(damaged)
          run.expect(
            contents.contains(reading.content), "\(place): \(what) shows what was never committed")
          _ = try damaged.check(reachable: reading.extents)
        } catch {
          // It says so, which is all that can be asked.
        }
        try FileManager.default.removeItem(atPath: copy.path)
      }
    }
  ]

  /// The files that hold something.
  private static func files(under path: String) throws -> [String] {
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      return []
    }
    let candidates =
      isFolder.boolValue
      ? try FileManager.default.subpathsOfDirectory(atPath: path).map { path + "/" + $0 } : [path]
    return try candidates.sorted().filter { file in
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      return attributes[.type] as? FileAttributeType == .typeRegular
        && attributes[.size] as? Int ?? 0 > 0
    }
  }

  /// Changes a byte, a sector or the length of `file`; says what.
  private static func damage(_ file: String, _ generator: inout SeededGenerator) throws -> String {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    let position = Int.random(in: bytes.indices, using: &generator)
    let name = (file as NSString).lastPathComponent
    defer { try? bytes.write(to: URL(fileURLWithPath: file)) }
    switch Int.random(in: 0..<4, using: &generator) {
    case 0:
      bytes.removeSubrange(position...)
      return "cutting \(name) at byte \(position)"
    case 1:
      let end = min(bytes.count, position + 512)
      bytes.resetBytes(in: position..<end)
      return "zeros at byte \(position) of \(name)"
    default:
      bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      return "another bit in byte \(position) of \(name)"
    }
  }
}
