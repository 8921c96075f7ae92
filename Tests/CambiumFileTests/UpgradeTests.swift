import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumFile

/// Bringing files of format version 1 to the present one.
struct UpgradeTests {
  /// Files of version 1: one whose records tell everything, and one that has a free map.
  private static let names = ["format-1", "format-1-map"]

  private static func oldFile(_ name: String) throws -> [UInt8] {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    return Array(
      try Data(contentsOf: tests.appendingPathComponent("FormatTests/Golden/\(name).cambium")))
  }

  private static func store(
    _ device: SimulatedDevice, isReadOnly: Bool = false
  ) throws -> FileStore {
    var options = CrashSettings.options(device)
    options.isReadOnly = isReadOnly
    return try FileStore(path: "simulated", options: options)
  }

  private static func digest(_ store: FileStore) throws -> String {
    let database = try Database(store: store)
    let digest = "\(try database.snapshot().contentDigest { _ in })"
    try database.close()
    return digest
  }

  /// Opens the file for writing, commits once and looks at everything.
  private static func expectNewest(_ device: SimulatedDevice, _ digest: String) throws {
    let store = try Self.store(device)
    #expect(store.identity.formatVersion == 2)
    let database = try Database(store: store)
    #expect(try database.verify().findings == [])
    let transaction = try database.beginWrite()
    try transaction.setValue("new", [1])
    _ = try transaction.commit()
    #expect(try database.verify().findings == [])
    let removal = try database.beginWrite()
    _ = try removal.drop("new")
    _ = try removal.commit()
    #expect("\(try database.snapshot().contentDigest { _ in })" == digest)
    // From now on small commits may use a log.
    for number in 0..<4 as Range<UInt8> {
      let transaction = try database.beginWrite()
      try transaction.setValue("new", [number])
      _ = try transaction.commit()
    }
    #expect(store.memory.durableMark?.log != nil)
    let last = try database.beginWrite()
    _ = try last.drop("new")
    _ = try last.commit()
    #expect("\(try database.snapshot().contentDigest { _ in })" == digest)
    try database.close()
  }

  @Test(arguments: names)
  func `an old file is read as it is, and upgraded when it is opened for writing`(
    name: String
  ) throws {
    let bytes = try Self.oldFile(name)
    let device = SimulatedDevice(bytes)
    let reader = try Self.store(device, isReadOnly: true)
    #expect(reader.identity.formatVersion == 1)
    let database = try Database(store: reader)
    #expect(try database.verify().findings == [])
    // Nobody reads the old form of a free map: nothing counts as free.
    let free = try reader.statistics().freeByteCount
    #expect((free == 0) == (name == "format-1-map"))
    let digest = try Self.digest(reader)
    #expect(device.bytes == bytes)
    try Self.expectNewest(device, digest)
    #expect(try Self.digest(Self.store(device, isReadOnly: true)) == digest)
  }

  @Test(arguments: names)
  func `power loss during an upgrade leaves the content, and the next opening goes on`(
    name: String
  ) throws {
    let bytes = try Self.oldFile(name)
    let digest = try Self.digest(Self.store(SimulatedDevice(bytes), isReadOnly: true))
    let device = SimulatedDevice(bytes)
    try Self.store(device).close()
    var generator = SeededGenerator(seed: 9)
    var versions: Set<Int> = []
    for count in 0...device.operationCount {
      for mood in [0, 0.5, 1] {
        let image = device.crashImage(afterOperations: count, mood: mood, generator: &generator)
        let reader = try Self.store(SimulatedDevice(image), isReadOnly: true)
        versions.insert(reader.identity.formatVersion)
        #expect(try Self.digest(reader) == digest, "operation \(count)")
        try Self.expectNewest(SimulatedDevice(image), digest)
      }
    }
    #expect(versions == [1, 2])
  }

  @Test(arguments: names)
  func `an upgrade that fails is thrown, and the next opening goes on`(name: String) throws {
    let bytes = try Self.oldFile(name)
    let digest = try Self.digest(Self.store(SimulatedDevice(bytes), isReadOnly: true))
    let whole = SimulatedDevice(bytes)
    try Self.store(whole).close()
    var errorCount = 0
    for index in 0..<whole.operationCount {
      for fault in SimulatedDevice.Fault.allCases {
        let device = SimulatedDevice(bytes)
        device.fail(index, fault)
        do {
          try Self.store(device).close()
        } catch {
          errorCount += 1
        }
        _ = device.endFault()
        try Self.expectNewest(SimulatedDevice(device.bytes), digest)
      }
    }
    #expect(errorCount > whole.operationCount)
  }

  @Test func `a file that others read is not upgraded meanwhile, and not where it may not be`()
    throws
  {
    try TemporaryFolder.with { folder in
      let path = folder.appendingPathComponent("old.cambium").path
      try Data(try Self.oldFile("format-1-map")).write(to: URL(fileURLWithPath: path))
      let reader = try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
      #expect {
        try FileStore(path: path)
      } throws: { error in
        guard case .inUse = error as? StoreError else { return false }
        return true
      }
      let digest = try Self.digest(reader)
      var options = FileStoreOptions()
      options.upgradesFormat = false
      #expect(throws: StoreError.formatUpgradeRequired(path: path, version: 1, supported: 2)) {
        try FileStore(path: path, options: options)
      }
      #expect(
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
          == (try Self.oldFile("format-1-map")))
      let first = try FileStore(path: path)
      // Others come in as to any file.
      let second = try FileStore(path: path)
      #expect(first.identity.formatVersion == 2 && second.identity.formatVersion == 2)
      try first.close()
      #expect(try Self.digest(second) == digest)
    }
  }

  @Test func `a version has one backup, whatever a failed upgrade has left in free room`() throws {
    let folder = try TemporaryFolder()
    var options = DatabaseOptions()
    options.transactionBudgetByteCount = 0
    let store = try FileStore(path: folder.file("a.cambium"))
    let database = try Database(store: store, options: options)
    func commit(_ value: UInt8) throws {
      let transaction = try database.beginWrite()
      try transaction.setValue("value", [value])
      _ = try transaction.commit()
    }
    func backups() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.contains("backup") }.sorted()
    }
    try commit(1)
    for _ in 0..<3 {
      let upgrade = try database.beginWrite()
      try store.keepBackup(of: "old")
      // Pages that are written ahead, and given up.
      let tree = try upgrade.editKeyTree("tree")
      for key in 0..<100 as Range<UInt8> {
        _ = try tree.set([key], [UInt8](repeating: .random(in: 0...255), count: 500))
      }
      try upgrade.spillIfNeeded()
      upgrade.rollback()
      #expect(try backups() == ["a.old.backup.cambium"])
    }
    try commit(2)
    try store.keepBackup(of: "old")
    #expect(try backups() == ["a.old-2.backup.cambium", "a.old.backup.cambium"])
    try database.close()
    for (name, value) in [("a.old.backup.cambium", 1), ("a.old-2.backup.cambium", 2)] {
      let backup = try Database(store: FileStore(path: folder.file(name)))
      #expect(try backup.snapshot().value("value") == [UInt8(value)])
      #expect(try backup.verify().findings == [])
      try backup.close()
    }
  }
}
