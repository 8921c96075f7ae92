import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// `cambium copy`: from every kind of store and codec to every other, whole or not at all.
@Suite struct CopyTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("people.cambium")
  }

  private func makeStore(rows: Int64) throws {
    let database = try Database(store: FileStore(path: path))
    let filling = try database.beginWrite()
    let people = try filling.createTable(
      "class/Person",
      columns: [
        ColumnDescriptor(type: .int, isNullable: true, name: "age"),
        ColumnDescriptor(type: .bytes, isNullable: false, name: "name"),
      ])
    for key in 0..<rows {
      // Long values have pages of their own.
      let name = Array(repeating: "person \(key &* 7_919)", count: key % 500 == 0 ? 400 : 2)
        .joined(separator: " and ")
      try Array(name.utf8).withUnsafeBytes { bytes in
        let age: ColumnValue = key % 7 == 0 ? .null : .int(key % 100)
        _ = try people.insert(key: key, values: [(1, age), (2, .bytes(bytes))])
      }
    }
    try filling.setValue("settings", [1, 2, 3])
    _ = try filling.commit()
    try database.close()
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.file(name))
  }

  private func digest(_ location: String, _ options: [String] = []) throws -> String {
    let outcome = try ToolRunner.run(arguments: ["digest", location] + options)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  private func makeKey(_ name: String, permissions: Int = 0o600) throws -> String {
    let path = folder.file(name)
    try Data((0..<64).map { _ in UInt8.random(in: 0...255) }).write(
      to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    return path
  }

  #if RocksDB && Zstd && Crypto
    /// Each arrow between two of the eight is taken, by a walk that begins and ends with the plain file.
    @Test func `every kind and codec turns into every other and has the same digest`() throws {
      try makeStore(rows: 1_500)
      let expected = try digest(path)
      let key = try makeKey("key")
      let kinds = ["file", "rocksdb"].flatMap { kind in
        ["none", "zstd:3", "aes-256-gcm", "zstd:3+aes-256-gcm"].map { (kind, $0) }
      }
      var sources: [(location: String, options: [String])] = []
      func copy(
        _ source: String, _ options: [String], to kind: (String, String), _ name: String
      ) throws -> (location: String, options: [String]) {
        let needsKey = kind.1.contains("aes")
        let outcome = try ToolRunner.run(
          arguments: [
            "copy", source, "\(kind.0):\(folder.file(name))", "--codec", kind.1, "--json",
          ]
            + (options.isEmpty && needsKey ? ["--new-key-file", key] : options))
        #expect(outcome.status == 0, "\(source) to \(kind): \(outcome.errors)")
        #expect(outcome.errors == "")
        #expect(outcome.json["digest"].map { "\($0)\n" } == expected, "\(source) to \(kind)")
        #expect(outcome.json["store"] as? String == kind.0)
        #expect(outcome.json["destination"] as? String == folder.file(name))
        return (folder.file(name), needsKey ? ["--key-file", key] : [])
      }
      for (index, kind) in kinds.enumerated() {
        sources.append(try copy(path, [], to: kind, "source\(index)"))
      }
      for (index, source) in sources.enumerated() {
        for (target, kind) in kinds.enumerated() where (index * 3 + target) % 4 == 0 {
          let name = "copy\(index)-\(target)"
          let made = try copy(source.location, source.options, to: kind, name)
          #expect(try digest(made.location, made.options) == expected)
        }
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left.allSatisfy { !$0.hasSuffix(".copying") })
    }
  #endif

  #if Crypto
    @Test(arguments: ["", "none", "zstd:3"])
    func `a new key encrypts, whatever the codec is said to be`(codec: String) throws {
      #if !Zstd
        if codec == "zstd:3" { return }
      #endif
      try makeStore(rows: 100)
      let options = codec.isEmpty ? [] : ["--codec", codec]
      let key = try makeKey("key")
      let outcome = try ToolRunner.run(
        arguments: ["copy", path, folder.file("sealed"), "--new-key-file", key, "--json"] + options)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(
        outcome.json["codec"] as? String == (codec == "zstd:3" ? "zstd+" : "") + "aes-256-gcm")
      #expect(try ToolRunner.run("digest", folder.file("sealed")).status == 1)
      #expect(try digest(folder.file("sealed"), ["--key-file", key]) == digest(path))
    }

    #if Zstd
      @Test(arguments: ["copy", "compact"])
      func `what is encrypted stays so unless 'none' is said`(command: String) throws {
        try makeStore(rows: 100)
        let key = try makeKey("key")
        let (sealed, new) = (folder.file("sealed"), folder.file("new"))
        #expect(try ToolRunner.run("copy", path, sealed, "--new-key-file", key).status == 0)
        let target = command == "compact" ? ["--output", new] : [new]
        func run(_ codec: String) throws -> ToolRunner.Outcome {
          try ToolRunner.run(
            arguments: [command, sealed] + target + ["--key-file", key, "--codec", codec])
        }
        let refused = try run("zstd:3")
        #expect(refused.status == 1 && !exists("new"))
        #expect(
          refused.errors.contains("--codec zstd:3+aes-256-gcm")
            && refused.errors.contains("--codec none"), "\(refused.errors)")
        #expect(try run("zstd:3+aes-256-gcm").status == 0)
        #expect(try digest(new, ["--key-file", key]) == digest(path))
        try FileManager.default.removeItem(atPath: new)
        #expect(try run("none").status == 0)
        #expect(try digest(new) == digest(path))
      }
    #endif

    @Test func `a wrong key, none, and a key that others may read`() throws {
      try makeStore(rows: 100)
      let key = try makeKey("key")
      let other = try makeKey("other")
      let open = try makeKey("open", permissions: 0o644)
      let sealed = folder.file("sealed")
      let first = try ToolRunner.run(
        "copy", path, sealed, "--codec", "aes-256-gcm", "--new-key-file", key)
      #expect(first.status == 0 && first.errors == "")
      for options in [[], ["--key-file", other]] as [[String]] {
        let outcome = try ToolRunner.run(
          arguments: ["copy", sealed, folder.file("new")] + options)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(options.isEmpty ? "--key-file" : "the key is not the one"))
      }
      let keyless = try ToolRunner.run(
        "copy", path, folder.file("new"), "--codec", "aes-256-gcm")
      #expect(keyless.status == 1 && keyless.errors.contains("key"), "\(keyless.errors)")
      #expect(!exists("new") && !exists("new.copying"))
      let warned = try ToolRunner.run(
        "copy", path, folder.file("new"), "--codec", "aes-256-gcm", "--new-key-file", open)
      #expect(warned.status == 0 && warned.errors.contains("warning: others may read the key"))
      #expect(warned.errors.contains(open) && warned.errors.split(separator: "\n").count == 1)
    }
  #endif

  @Test(arguments: ["file", "rocksdb"])
  func `a copy that was killed leaves nothing that opens, and the next one succeeds`(
    kind: String
  ) throws {
    #if !RocksDB
      if kind == "rocksdb" { return }
    #endif
    try makeStore(rows: 20_000)
    let expected = try digest(path)
    let target = folder.file("copy")
    var wasCaught = false
    // Later and later, until one is not caught any more.
    for round in 0..<12 {
      try? FileManager.default.removeItem(atPath: target)
      let process = try ToolRunner.start("copy", path, "\(kind):\(target)")
      let clock = ContinuousClock.now
      while ContinuousClock.now - clock < .milliseconds(8 * round), process.isRunning {}
      // Threads of the pool block most signals, and their children inherit that.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      if exists("copy") {
        // Only a whole one is ever there.
        #expect(try digest(target) == expected)
      } else {
        wasCaught = true
      }
    }
    #expect(wasCaught)
    try? FileManager.default.removeItem(atPath: target)
    let outcome = try ToolRunner.run("copy", path, "\(kind):\(target)")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try digest(target) == expected)
    #expect(!exists("copy.copying"))
  }

  @Test(arguments: ["file", "rocksdb"])
  func `a full destination is an error that leaves nothing`(kind: String) throws {
    #if !RocksDB
      if kind == "rocksdb" { return }
    #endif
    try makeStore(rows: 20_000)
    // No file may have more than 256 KiB.
    let outcome = try ToolRunner.runLimited(
      fileBlocks: 512, "copy", path, "\(kind):\(folder.file("copy"))")
    #expect(outcome.status == 1, "\(outcome.status) \(outcome.errors)")
    #expect(outcome.errors.contains("copy"))
    #expect(!exists("copy") && !exists("copy.copying"))
    #expect(try ToolRunner.run("verify", path).status == 0)
  }

  @Test func `folders and files of others are left alone`() throws {
    try makeStore(rows: 10)
    let place = folder.file("copy.copying")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    try Data("notes".utf8).write(to: URL(fileURLWithPath: place + "/notes.txt"))
    let refused = try ToolRunner.run("copy", path, folder.file("copy"))
    #expect(refused.status == 1 && refused.errors.contains("copy.copying"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: place + "/notes.txt")) == Data("notes".utf8))
    let lost = try ToolRunner.run("copy", path, folder.file("missing/copy"))
    #expect(lost.status == 1 && !exists("missing"))
    let dangling = folder.file("link")
    try FileManager.default.createSymbolicLink(
      atPath: dangling, withDestinationPath: folder.file("nowhere"))
    #expect(try ToolRunner.run("copy", path, dangling).status == 1)
    #expect(!exists("nowhere"))
  }
}
