import CambiumRealmFile
import Foundation
import TestSupport
import Testing

/// A damaged file gives an error, or values that fit its schema; and never a trap.
@Suite struct DamageTests {
  /// A file whose bytes are changed for a moment.
  private final class Patient {
    let path: String
    let original: Data
    private let handle: FileHandle

    init(_ original: Data) throws {
      self.original = original
      let url = Samples.folder.appendingPathComponent("\(UUID().uuidString).realm")
      try original.write(to: url)
      path = url.path
      handle = try FileHandle(forUpdating: url)
    }

    deinit {
      try? handle.close()
      try? FileManager.default.removeItem(atPath: path)
    }

    private func put(_ bytes: Data, at position: Int) throws {
      try handle.seek(toOffset: UInt64(position))
      try handle.write(contentsOf: bytes)
    }

    /// Writes `bytes`, reads everything, and puts the old ones back; whether there was an error.
    func isDamaged(by bytes: Data, at position: Int, key: [UInt8]? = nil) throws -> Bool {
      try put(bytes, at: position)
      defer { try? put(original[position..<position + bytes.count], at: position) }
      do {
        return try ContentCheck.read(path, key: key) != nil
      } catch let misfit as ContentCheck.Misfit {
        Issue.record("\(bytes.map { $0 }) at byte \(position): \(misfit.what) does not fit")
        return false
      }
    }
  }

  @Test func `every byte of the smallest file may be anything`() throws {
    let patient = try Patient(Samples.bytes("tiny.realm"))
    var damageCount = 0
    for position in patient.original.indices {
      let byte = patient.original[position]
      for other in (0..<8).map({ byte ^ 1 << UInt8($0) }) + [0, 255] where other != byte {
        if try patient.isDamaged(by: Data([other]), at: position) { damageCount += 1 }
      }
    }
    #expect(damageCount > 1000)
  }

  @Test(arguments: [
    "no-classes", "never-written", "copy", "scalars", "schema-changes", "tombstones",
  ])
  func `every byte of a small file may be anything`(name: String) throws {
    let patient = try Patient(Samples.bytes("\(name).realm"))
    for (position, byte) in patient.original.enumerated()
    where Exhaustive.tries(position, oneIn: 61) {
      for other in [0, 255, byte ^ 0x80] where other != byte {
        _ = try patient.isDamaged(by: Data([other]), at: position)
      }
    }
  }

  @Test(
    arguments: Samples.all.filter { !["tiny", "max-size", "list-depth3"].contains($0) },
    Exhaustive.seeds(40, few: 2))
  func `random damage gives an error or values that fit`(name: String, seed: UInt64) throws {
    let patient = try Patient(Samples.bytes("\(name).realm"))
    let bytes = patient.original
    var generator = SeededGenerator(seed: seed)
    let key = Samples.encrypted.contains(name) ? Samples.key : nil
    // Large files take long to read.
    for _ in 0..<min(60, max(2, 6_000_000 / bytes.count)) {
      let position = Int.random(in: 0..<bytes.count, using: &generator)
      let byte = bytes[position]
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: _ = try patient.isDamaged(by: Data([0]), at: position, key: key)
      case 1: _ = try patient.isDamaged(by: Data([255]), at: position, key: key)
      case 2: _ = try patient.isDamaged(by: Data([byte ^ 0x80]), at: position, key: key)
      case 3:
        let bit = UInt8.random(in: 0..<8, using: &generator)
        _ = try patient.isDamaged(by: Data([byte ^ 1 << bit]), at: position, key: key)
      default:
        // A word of another place, such as the header of another node or a ref to it.
        let from = Int.random(in: 0..<bytes.count / 8, using: &generator) * 8
        let word = Data(bytes[from..<from + 8])
        _ = try patient.isDamaged(by: word, at: position / 8 * 8, key: key)
      }
    }
  }

  @Test func `a small file cut anywhere is an error`() throws {
    let bytes = try Samples.bytes("tiny.realm")
    for count in 1..<bytes.count {
      let error = try Samples.withFile(bytes.prefix(count)) { try ContentCheck.read($0) }
      if error == nil { Issue.record("cut to \(count) bytes, it is read") }
    }
  }

  @Test(arguments: ["copy", "compacted", "commits", "scalars", "schema-changes", "format-22"])
  func `a file cut short is an error`(name: String) throws {
    let bytes = try Samples.bytes("\(name).realm")
    let size = try #require(logicalByteCount(bytes))
    let step = max(8, size / 400 / 8 * 8)
    for count in stride(from: 8, to: size, by: step) {
      let error = try Samples.withFile(bytes.prefix(count)) { try ContentCheck.read($0) }
      if error == nil { Issue.record("cut to \(count) bytes, it is read") }
    }
  }

  /// One past the last byte that the file needs: a footer, or the end of the snapshot.
  private func logicalByteCount(_ data: Data) -> Int? {
    let bytes = [UInt8](data)
    let root = bytes[23] & 1 == 0 ? 0 : 8
    let ref = (0..<8).reduce(0) { $0 | UInt64(bytes[root + $1]) << UInt64(8 * $1) }
    if ref == .max { return bytes.count }
    // The root's third element, tagged; the widths of 16 to 64 bits occur.
    let width = 1 << (Int(bytes[Int(ref) + 4] & 7) - 1)
    let start = Int(ref) + 8 + 2 * width / 8
    let tagged = (0..<width / 8).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
    return tagged >> 1
  }
}
