#if RealmFile
  import Cambium
  import Foundation
  import RealmFileBuilder
  import TestSupport
  import Testing

  /// Files of Realm through the command line.
  @Suite struct RealmFileCommandTests {
    private let folder: TemporaryFolder
    private var store: String { folder.file("new.cambium") }

    init() throws { folder = try TemporaryFolder() }

    private static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("CambiumRealmFileTests/Samples")

    private static func sample(_ name: String) -> String {
      samples.appendingPathComponent(name + ".realm").path
    }

    /// A file with the key of the encrypted samples.
    private func keyFile() throws -> String {
      let path = folder.file("key")
      try Data((0..<64).map { UInt8(truncatingIfNeeded: 3 * $0 + 1) })
        .write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      return path
    }

    private func run(_ arguments: String..., status: Int32 = 0) throws -> String {
      let outcome = try ToolRunner.run(arguments: arguments)
      #expect(outcome.status == status, "\(outcome.errors)")
      return status == 0 ? outcome.output : outcome.errors
    }

    @Test func `an empty file is none of Realm, whatever the key`() throws {
      let empty = folder.file("empty")
      try Data().write(to: URL(fileURLWithPath: empty))
      _ = try run("inspect", empty, "--key-file", try keyFile(), status: 1)
      _ = try run("import", Self.sample("tiny"), store)
      _ = try run("export", store, "--output", empty)
    }

    @Test func `an export replaces no encrypted Realm file`() throws {
      let old = folder.file("old.realm")
      try FileManager.default.copyItem(atPath: Self.sample("encrypted"), toPath: old)
      _ = try run("import", Self.sample("tiny"), store)
      let error = try run("export", store, "--output", old, status: 1)
      #expect(error.contains("which no export replaces"))
      #expect(FileManager.default.contentsEqual(atPath: old, andPath: Self.sample("encrypted")))
      // A text of as many bytes as whole pages have is none.
      let text = folder.file("text")
      try Data(repeating: 0x61, count: 8192).write(to: URL(fileURLWithPath: text))
      _ = try run("export", store, "--output", text)
    }

    @Test func `what is imported from a private Realm file is private`() throws {
      let old = folder.file("old.realm")
      try FileManager.default.copyItem(atPath: Self.sample("tiny"), toPath: old)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: old)
      _ = try run("import", old, store)
      let rights = try FileManager.default.attributesOfItem(atPath: store)[.posixPermissions]
      #expect(rights as? Int == 0o600)
    }

    @Test func `a Realm file is imported with its classes`() throws {
      let text = try run("import", Self.sample("tiny"), store)
      #expect(text == "Dog: 2 created\nAll of it was compared with the old file.\n")
      #expect(
        try run("query", store, "Dog", "", "--format", "csv") == "name,age\r\nRex,7\r\nBello,\r\n")
      #expect(try run("verify", store).contains("is sound"))
      #expect(try schemaVersionAtURL(URL(fileURLWithPath: store)) == 2)
    }

    @Test func `an import tells programs in JSON what it did`() throws {
      let outcome = try ToolRunner.run("import", Self.sample("tombstones"), store, "--json")
      #expect(outcome.json["formatVersion"] as? Int == 24)
      #expect((outcome.json["objects"] as? [String: Int])?["Person"] == 20)
      #expect(outcome.json["repairedTexts"] as? Int == 0)
    }

    @Test func `inspect shows what a Realm file holds`() throws {
      let text = try run("inspect", Self.sample("schema-changes"))
      for part in ["format version 24", "Outbox: 0 objects, which are only sent elsewhere"] {
        #expect(text.contains(part), "\(text)")
      }
      let json = try ToolRunner.run("inspect", Self.sample("tiny"), "--json").json
      #expect(json["kind"] as? String == "realm")
      #expect(json["schemaVersion"] as? Int == 2)
      #expect(((json["classes"] as? [[String: Any]])?.first?["objects"]) as? Int == 2)
    }

    @Test func `export, query and schema read a Realm file as it is`() throws {
      let old = folder.file("old.realm")
      try FileManager.default.copyItem(atPath: Self.sample("tiny"), toPath: old)
      let document = try run("export", old)
      #expect(document.contains("{\"$key\":0,\"name\":\"Rex\",\"age\":7}"))
      #expect(try run("query", old, "Dog", "age > 3", "--count") == "1\n")
      #expect(try run("schema", old).contains("@Persisted var age: Int?"))
      // And what was exported is what an import brings.
      _ = try run("import", old, store)
      #expect(try run("export", store) == document)
      // A comparison finds nothing that differs.
      _ = try run("diff", old, store)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left.sorted() == ["new.cambium", "new.cambium.lock", "old.realm"])
    }

    @Test func `commands for stores say what a Realm file is`() throws {
      for command in ["verify", "compact", "digest"] {
        let text = try run(command, Self.sample("tiny"), status: 1)
        #expect(text.contains("'cambium import"), "\(command): \(text)")
      }
    }

    @Test func `an import that a signal ends, or a full medium, leaves nothing`() throws {
      let old = folder.file("old.realm")
      try Data(WideFile.scalars(count: 100_000)).write(to: URL(fileURLWithPath: old))
      let full = try ToolRunner.runLimited(fileBlocks: 200, "import", old, store)
      #expect(full.status == 1, "\(full.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["old.realm"])
      let process = try ToolRunner.startAndSignal(SIGTERM, "import", old, store) {
        FileManager.default.fileExists(atPath: store + ".copying")
      } again: {
        try FileManager.default.removeItem(atPath: store)
      }
      #expect(process.terminationReason == .uncaughtSignal)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["old.realm"])
    }

    @Test func `what does not go with a Realm file is refused`() throws {
      for options in [["--class", "Dog"], ["--dry-run"], ["--existing", "update"]] {
        let outcome = try ToolRunner.run(
          arguments: ["import", Self.sample("tiny"), store] + options)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("inspect"))
      }
      _ = try run("import", Self.sample("tiny"), store)
      #expect(try run("import", Self.sample("tiny"), store, status: 1).contains(store))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["new.cambium"])
    }

    #if Crypto
      @Test
      func `an encrypted Realm file is opened by its key, which the new store has too`() throws {
        let key = try keyFile()
        let secret = Self.sample("encrypted-copy")
        #expect(try run("inspect", secret, "--key-file", key).contains("encrypted        yes"))
        #expect(
          try run("import", secret, store, "--key-file", key).hasPrefix("Secret: 720 created"))
        #expect(try run("query", store, "Secret", "", "--count", status: 1).contains("--key-file"))
        #expect(
          try run("query", store, "Secret", "", "--count", "--key-file", key) == "720\n")
        // Another codec comes besides.
        #if Zstd
          let packed = folder.file("packed.cambium")
          _ = try run("import", secret, packed, "--key-file", key, "--codec", "zstd:3")
          #expect(try run("inspect", packed, "--key-file", key).contains("zstd+aes-256-gcm"))
        #endif
        // Or it goes into a store without one, when that is said.
        let plain = folder.file("plain.cambium")
        _ = try run("import", secret, plain, "--source-key-file", key)
        #expect(try run("query", plain, "Secret", "", "--count") == "720\n")
      }
    #endif
  }
#endif
