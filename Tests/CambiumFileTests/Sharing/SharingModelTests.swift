import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// Several stores of one file against a plain model.
struct SharingModelTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `stores that commit, pin, sync, close and reopen at random agree with a model`(
    seed: UInt64
  ) throws {
    let model = try SharingModel(path: path, seed: seed)
    try model.run(250)
    #expect(model.findings == [])
    try model.closeAll()
    let store = try FileStore(path: path)
    let reading = try FakeTree.read(store)
    #expect(reading.content == model.content)
    #expect(try store.check(reachable: reading.extents) == [])
  }
}

/// Three stores of one file, each with pins, in the hands of a random sequence.
private final class SharingModel {
  private struct Held {
    var pin: Pin
    var content: FakeTree.Content
    /// Reads the pages; may be closed meanwhile.
    var store: FileStore
  }

  private let path: String
  private var generator: SeededGenerator
  private var stores: [FileStore]
  private var held: [Held] = []
  private(set) var content: FakeTree.Content = []
  private(set) var findings: [String] = []

  init(path: String, seed: UInt64) throws {
    self.path = path
    generator = SeededGenerator(seed: seed)
    stores = []
    for _ in 0..<3 { stores.append(try Self.open(path)) }
  }

  private static func open(_ path: String) throws -> FileStore {
    var options = FileStoreOptions()
    options.checkpointAfterRecordCount = 4
    options.largestSingleSyncByteCount = 48 << 10
    options.growthByteCount = 32 << 10
    // Only explicit syncs, so that a run repeats itself.
    options.stopTimers()
    return try FileStore(path: path, options: options)
  }

  func closeAll() throws {
    held = []
    for store in stores { try store.close() }
  }

  func run(_ count: Int) throws {
    for step in 0..<count {
      let index = Int.random(in: stores.indices, using: &generator)
      try act(on: index)
      try check(stores[Int.random(in: stores.indices, using: &generator)], "step \(step)")
      if !findings.isEmpty { return }
    }
  }

  private func act(on index: Int) throws {
    let store = stores[index]
    switch Int.random(in: 0..<14, using: &generator) {
    case 0, 1: held.append(Held(pin: try store.pin(), content: content, store: store))
    case 2, 3:
      if !held.isEmpty { held.remove(at: Int.random(in: held.indices, using: &generator)) }
    case 4:
      let writer = try store.beginWrite()
      _ = try FakeTree.change(writer, store, changeCount: 5, generator: &generator)
      writer.abort()
    case 5: try store.sync()
    case 6:
      try store.close()
      stores[index] = try Self.open(path)
    default:
      let writer = try store.beginWrite()
      let count = Int.random(in: 1...6, using: &generator)
      let (root, content) = try FakeTree.change(
        writer, store, changeCount: count, generator: &generator)
      let durability = Durability.allCases.randomElement(using: &generator) ?? .full
      _ = try writer.publish(root: root, durability: durability, metadata: [])
      self.content = content
    }
  }

  private func check(_ store: FileStore, _ place: String) throws {
    let newest = try FakeTree.read(store)
    if newest.content != content { findings.append("\(place): the newest version differs") }
    findings += try store.check(reachable: newest.extents).map { "\(place): \($0)" }
    for held in held {
      let reading = try FakeTree.read(held.pin, held.store)
      if reading.content != held.content {
        findings.append("\(place): version \(held.pin.head.version) differs")
      }
    }
  }
}
