import CambiumRealmFile
import Foundation
import Testing

/// The file on disk stays as it is, and changes that others make are told.
@Suite struct FileHandlingTests {
  private struct Look: Equatable {
    var bytes: Data
    var modified: Date?
    var names: [String]
  }

  private static func look(at path: String) throws -> Look {
    let url = URL(fileURLWithPath: path)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return Look(
      bytes: try Data(contentsOf: url), modified: attributes[.modificationDate] as? Date,
      names: try FileManager.default.contentsOfDirectory(
        atPath: url.deletingLastPathComponent().path
      ).sorted())
  }

  /// A copy of a sample in a folder of its own.
  private static func withCopy(_ name: String, _ body: (String) throws -> Void) throws {
    let folder = Samples.folder.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("copy.realm")
    try Samples.bytes("\(name).realm").write(to: file)
    try body(file.path)
  }

  @Test(arguments: Samples.all.filter { !$0.hasPrefix("objects") && $0 != "max-size" })
  func `reading changes nothing on disk`(name: String) throws {
    try Self.withCopy(name) { path in
      let before = try Self.look(at: path)
      let key = Samples.encrypted.contains(name) ? Samples.key : nil
      #expect(try ContentCheck.read(path, key: key) == nil)
      #expect(try Self.look(at: path) == before)
    }
  }

  @Test func `a file that may only be read is read`() throws {
    try Self.withCopy("tiny") { path in
      try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
      #expect(try ContentCheck.read(path) == nil)
    }
  }

  @Test func `a file that is written meanwhile is told`() throws {
    try Self.withCopy("commits") { path in
      let file = try RealmFile(path: path)
      try file.checkUnchanged()
      let handle = try #require(FileHandle(forUpdatingAtPath: path))
      try handle.seek(toOffset: 23)
      try handle.write(contentsOf: Data([1]))
      try handle.close()
      #expect(throws: RealmFileError.changed(path: path)) { try file.checkUnchanged() }
    }
  }

  @Test func `a file that is replaced or removed meanwhile is told`() throws {
    try Self.withCopy("tiny") { path in
      let file = try RealmFile(path: path)
      try Samples.bytes("tiny.realm").write(to: URL(fileURLWithPath: path), options: .atomic)
      #expect(throws: RealmFileError.changed(path: path)) { try file.checkUnchanged() }
      let second = try RealmFile(path: path)
      try FileManager.default.removeItem(atPath: path)
      #expect(throws: RealmFileError.changed(path: path)) { try second.checkUnchanged() }
      // What was opened can still be read.
      try second.forEachLeaf(of: 0) { #expect($0.keys == [0, 1]) }
    }
  }

  @Test func `a file that is cut short meanwhile is an error`() throws {
    try Self.withCopy("objects-100000") { path in
      let file = try RealmFile(path: path)
      let handle = try #require(FileHandle(forUpdatingAtPath: path))
      try handle.truncate(atOffset: 4096)
      try handle.close()
      #expect(throws: RealmFileError.changed(path: path)) {
        for index in file.classes.indices {
          try file.forEachLeaf(of: index) { leaf in
            for property in file.classes[index].properties.indices {
              _ = try leaf.values(of: property)
            }
          }
        }
      }
      #expect(throws: RealmFileError.changed(path: path)) { try file.checkUnchanged() }
    }
  }

  @Test func `what cannot be a Realm file is told`() throws {
    let folder = Samples.folder.path
    #expect(throws: RealmFileError.notARealmFile(path: folder)) { try RealmFile(path: folder) }
    let missing = folder + "/none.realm"
    #expect(throws: RealmFileError.system(operation: "open", code: ENOENT, path: missing)) {
      try RealmFile(path: missing)
    }
    for text in ["x", "A text, which is no Realm file at all.\n"] {
      try Samples.withFile(text.utf8) { path in
        #expect(throws: RealmFileError.notARealmFile(path: path)) { try RealmFile(path: path) }
      }
    }
  }

  #if !Crypto
    @Test func `a key is of no use to a build without encryption`() throws {
      let path = try Samples.path("encrypted")
      #expect(throws: RealmFileError.encryptionUnavailable(path: path)) {
        try RealmFile(path: path, encryptionKey: Samples.key)
      }
      #expect(throws: RealmFileError.needsKey(path: path)) { try RealmFile(path: path) }
    }
  #endif

  @Test func `an error names the file and the way out`() {
    let path = "/data/x.realm"
    let damage = RealmFileError.Damage("it is bad", position: 24, className: "Dog")
    let errors: [(RealmFileError, String)] = [
      (.notARealmFile(path: path), "no Realm file"), (.needsKey(path: path), "64 bytes"),
      (.notEncrypted(path: path), "without a key"),
      (.wrongKeyLength(byteCount: 3, path: path), "has 3 bytes"),
      (.wrongKey(path: path), "not the one"),
      (.encryptionUnavailable(path: path), "package trait 'Crypto'"),
      (.unsupportedFormat(9, path: path), "Realm Swift 10.0 to 10.48"),
      (.unsupportedFormat(25, path: path), "does not know"),
      (.truncated(path: path, what: "it ends"), "cut short: it ends"),
      (.damaged(damage, path: path), "class Dog: it is bad (at byte 24)"),
      (.changed(path: path), "read a copy"),
      (.system(operation: "open", code: ENOENT, path: path), "No such file"),
    ]
    for (error, words) in errors {
      #expect("\(error)".contains(path))
      #expect("\(error)".contains(words))
    }
  }
}
