import CambiumCore
import CambiumFile
import CambiumStoreContract
import Foundation
import TestSupport
import Testing

/// A file system that is really full: a small one in memory, which only a process of its own sees.
@Suite(.serialized) struct FullDiskTests {
  /// The stores that lie on disks, alone and with a codec that seals their records.
  private static let subjects = Matrix.stores.filter { $0.isPersistent && $0.hasFiles }.flatMap {
    store in
    [store] + Matrix.codecs.suffix(1).map { store.with(codec: $0.name, $0.make) }
  }

  private static let unshare = "/usr/bin/unshare"
  private static let diskByteCount = 12 << 20

  /// What a guest is started with: a small disk at `path`, and the rest of the command behind it.
  private static func arguments(_ path: String, _ command: [String]) -> [String] {
    let user = geteuid() == 0 ? [] : ["--map-root-user"]
    let mount =
      "mount -t tmpfs -o size=\(diskByteCount) none \"$1\" && shift && exec timeout -s KILL 900 \"$@\""
    return user + ["--mount", "sh", "-c", mount, "sh", path] + command
  }

  private static func run(_ path: String, _ command: [String]) throws -> (Int32, String) {
    let guest = Process()
    let output = Pipe()
    guest.executableURL = URL(fileURLWithPath: unshare)
    guest.arguments = arguments(path, command)
    guest.environment = ProcessInfo.processInfo.environment.merging(
      ["CAMBIUM_FULL_DISK": path]) { $1 }
    guest.standardOutput = output
    guest.standardError = output
    try guest.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    guest.waitUntilExit()
    return (guest.terminationStatus, String(decoding: text, as: UTF8.self))
  }

  /// Whether a file system may be mounted here.
  private static let canMount: Bool = {
    guard FileManager.default.isExecutableFile(atPath: unshare), let folder = try? TemporaryFolder()
    else { return false }
    return (try? run(folder.path, ["true"]).0) == 0
  }()

  /// The disk of a guest; nil in the process that tests everything else.
  private static let disk = ProcessInfo.processInfo.environment["CAMBIUM_FULL_DISK"]

  @Test(.enabled(if: disk == nil && canMount, "No file system may be mounted here."))
  func `stores on a disk of their own keep their promises when it is full`() throws {
    let folder = try TemporaryFolder()
    let (status, output) = try Self.run(
      folder.path,
      [
        CommandLine.arguments[0], "--testing-library", "swift-testing", "--filter",
        "FullDiskTests",
      ])
    #expect(status == 0, "\(output)")
    #expect(output.contains("with \(Self.subjects.count) test cases passed"), "\(output)")
  }

  // MARK: In the guest

  @Test(.enabled(if: disk != nil, "Runs in a guest."), arguments: subjects)
  func `a full disk refuses what does not fit, and loses nothing`(subject: StoreSubject) throws {
    let folder = try #require(Self.disk) + "/\(subject)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/store"
    func place(isReadOnly: Bool = false) throws -> StorePlace {
      StorePlace(path: path, isReadOnly: isReadOnly, codec: try subject.codec?())
    }
    func open(isReadOnly: Bool = false) throws -> Database {
      try Database(store: subject.open(place(isReadOnly: isReadOnly)))
    }
    let ballast = Ballast(folder: folder)

    // Not even a new store fits.
    try ballast.fill()
    #expect(throws: StoreError.mediumFull(path: path)) { try open() }
    ballast.drop()

    var database = try open()
    // Another one can be opened on a full disk, or says why not.
    try database.close()
    try ballast.fill()
    do {
      try Database(store: subject.open(place())).close()
    } catch let error as StoreError {
      #expect(error == .mediumFull(path: path))
    }
    ballast.drop()
    database = try open()
    try ballast.put(byteCount: 4 << 20)
    var content = Content(seed: 1)
    #expect(throws: StoreError.mediumFull(path: path)) {
      while content.count < 1000 { try content.add(to: database) }
    }
    #expect(content.count > 0)
    try content.check(database)
    #expect(try database.verify().findings == [])

    // Room again: who was not hurt goes on, who was is opened anew.
    ballast.drop()
    do throws(StoreError) { try content.add(to: database) } catch .poisoned {
      try database.close()
      database = try open()
      try content.check(database)
      try content.add(to: database)
    } catch {
      // RocksDB looks every five seconds whether there is room.
      var tries = 0
      while error == .mediumFull(path: path), tries < 600 {
        usleep(100_000)
        tries += 1
        if (try? content.add(to: database)) != nil { break }
      }
      #expect(tries < 600)
    }
    try content.check(database)
    try database.close()

    // What is there can be read, however full the disk is.
    try ballast.fill()
    database = try open(isReadOnly: true)
    try content.check(database)
    try database.close()
    ballast.drop()
    database = try open()
    try content.check(database)
    try content.add(to: database)
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test(.enabled(if: disk != nil, "Runs in a guest."))
  func `what a crash has left in the log of a file can be read on a full disk`() throws {
    let folder = try #require(Self.disk) + "/log"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (path, copy) = (folder + "/store", folder + "/copy")
    let database = try Database(store: FileStore(path: path))
    for number in 0..<12 as Range<UInt8> {
      let transaction = try database.beginWrite()
      try transaction.setValue("number", [number])
      _ = try transaction.commit()
    }
    // As power loss leaves it: without the lock file.
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let ballast = Ballast(folder: folder)
    try ballast.fill()
    defer { ballast.drop() }
    for isReadOnly in [true, false] {
      let options = FileStoreOptions(isReadOnly: isReadOnly)
      let opened = Result { try Database(store: FileStore(path: copy, options: options)) }
      guard isReadOnly else {
        #expect(throws: StoreError.mediumFull(path: copy + ".lock")) { try opened.get() }
        continue
      }
      #expect(try opened.get().snapshot().value("number") == [11])
      try opened.get().close()
    }
    ballast.drop()
    let again = try Database(store: FileStore(path: copy))
    #expect(try again.snapshot().value("number") == [11])
    #expect(try again.verify().findings == [])
    try again.close()
    try database.close()
  }

  @Test(.enabled(if: disk != nil, "Runs in a guest."), arguments: [Durability.full, .relaxed])
  func `rows can be deleted on a full disk, and others added in their places`(
    durability: Durability
  ) throws {
    let folder = try #require(Self.disk) + "/deleting-\(durability)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let notes = try Notes(path: folder + "/store", durability)
    for _ in 0..<200 { try notes.add() }
    // Somebody else takes all the rest.
    try Ballast(folder: folder).fill()
    try notes.fill()
    let full = notes.keys.count
    for _ in 0..<full / 2 { try notes.remove(notes.keys[0]) }
    for _ in 0..<full / 4 { try notes.add() }
    try notes.close(count: full - full / 2 + full / 4)
  }

  @Test(.enabled(if: disk != nil, "Runs in a guest."))
  func `a file is compacted within itself where the disk has no room for a copy`() throws {
    let folder = try #require(Self.disk) + "/compacting"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/store"
    let notes = try Notes(path: path, .relaxed)
    for _ in 0..<6_000 { try notes.add() }
    try Ballast(folder: folder).fill()
    // So few that no pages are moved by themselves.
    for _ in 0..<1_000 { try notes.remove(notes.keys[0]) }
    try notes.close(count: 5_000)
    let report = try FileStore.compact(path: path)
    #expect(report.wasInPlace)
    #expect(report.byteCountAfter < report.byteCountBefore / 16 * 15, "\(report)")
    #expect(try FileStore.inspect(path: path).fileByteCount == report.byteCountAfter)
    try Notes.check(path: path, keys: notes.keys)
    // What was cut off is the disk's again.
    try Data(repeating: 1, count: 256 << 10).write(to: URL(fileURLWithPath: folder + "/other"))
  }
}

/// A table in a file on a full disk, changed by a row in each transaction.
private final class Notes {
  private let database: Database
  private let path: String
  private let durability: Durability
  private var generator = SeededGenerator(seed: 9)
  private var nextKey: Int64 = 0
  /// The keys of the rows, in the order in which they came.
  private(set) var keys: [Int64] = []

  init(path: String, _ durability: Durability) throws {
    (self.path, self.durability) = (path, durability)
    database = try Database(store: FileStore(path: path))
    let creation = try database.beginWrite()
    _ = try creation.createTable(
      "Note", columns: [ColumnDescriptor(type: .bytes, isNullable: false, name: "text")])
    _ = try creation.commit()
  }

  private func change(_ body: (TableEditor) throws -> Void) throws {
    let transaction = try database.beginWrite(expecting: durability)
    guard let table = try transaction.editTable("Note") else { return }
    try body(table)
    _ = try transaction.commit(durability: durability)
  }

  func add() throws {
    let bytes = generator.bytes(count: 700)
    try change { table in
      try bytes.withUnsafeBytes {
        _ = try table.insert(key: nextKey, values: [(column: 1, value: .bytes($0))])
      }
    }
    keys.append(nextKey)
    nextKey += 1
  }

  /// Adds rows until there is no room.
  func fill() throws {
    let end = nextKey + 10_000
    #expect(throws: StoreError.mediumFull(path: path)) { while nextKey < end { try add() } }
  }

  func remove(_ key: Int64) throws {
    try change { table in _ = try table.remove(key: key) }
    keys.removeAll { $0 == key }
  }

  /// Whether the rows with `keys` are there, and no others.
  static func check(path: String, keys: [Int64]) throws {
    let database = try Database(store: FileStore(path: path))
    let table = try #require(try database.snapshot().table("Note"))
    #expect(table.count == keys.count)
    for key in keys { #expect(try table.seek(key)?.key == key) }
    #expect(try database.verify().findings == [])
    try database.close()
  }

  func close(count: Int) throws {
    #expect(keys.count == count)
    #expect(try database.snapshot().table("Note")?.count == count)
    #expect(try database.verify().findings == [])
    try database.close()
  }
}

/// What is in the way on a disk.
private struct Ballast {
  let folder: String
  private var path: String { folder + "/ballast" }

  func put(byteCount: Int) throws {
    try Data(repeating: 1, count: byteCount).write(to: URL(fileURLWithPath: path))
  }

  /// Takes all that is left, to the last page.
  func fill() throws {
    try Data().write(to: URL(fileURLWithPath: path))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    defer { try? file.close() }
    let block = [UInt8](repeating: 1, count: 4096)
    while write(file.fileDescriptor, block, block.count) == block.count {}
  }

  func drop() { try? FileManager.default.removeItem(atPath: path) }
}

/// Values that do not become smaller by compression, with the durability of their commits in turn.
private struct Content {
  private var generator: SeededGenerator
  private var sums: [UInt64] = []
  var count: Int { sums.count }

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func add(to database: Database) throws(StoreError) {
    let bytes = generator.bytes(count: 150_000)
    let transaction = try database.beginWrite()
    try transaction.setValue("value \(count)", bytes)
    _ = try transaction.commit(durability: Durability.allCases[count % Durability.allCases.count])
    sums.append(bytes.withUnsafeBytes { Checksum.hash($0) })
  }

  func check(_ database: Database) throws {
    let snapshot = try database.snapshot()
    #expect(try snapshot.names(withPrefix: "").count == count)
    for (index, sum) in sums.enumerated() {
      let bytes = try snapshot.value("value \(index)") ?? []
      #expect(bytes.withUnsafeBytes { Checksum.hash($0) } == sum, "value \(index)")
    }
  }
}
