import Cambium
import CambiumCore
import CambiumStoreContract
import Foundation
import TestSupport
import Testing

private final class LimitedNote: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
}

/// What `maximumFileSize` promises.
struct SizeLimitTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("notes.realm") }
  private static let limit = 4 << 20
  /// An eighth of the limit, or 512 KiB.
  private static let spare = 512 << 10

  init() throws { folder = try TemporaryFolder() }

  private func configuration(_ store: SampledStore) -> Realm.Configuration {
    var configuration = store.configuration(path, [LimitedNote.self])
    configuration.maximumFileSize = Self.limit
    configuration.durability = .full
    return configuration
  }

  /// A text that does not become smaller by compression.
  private static func text(_ generator: inout SeededGenerator) -> String {
    Data(generator.bytes(count: 900)).base64EncodedString()
  }

  /// Adds notes, some in each transaction, until there is no more room; how many there are.
  private func fill(_ realm: Realm, from first: Int, by count: Int) throws -> Int {
    var generator = SeededGenerator(seed: UInt64(first))
    var next = first
    let error = #expect(throws: Realm.Error.self) {
      while next < first + 100_000 {
        try realm.write {
          for id in next..<next + count {
            realm.create(LimitedNote.self, value: ["id": id, "text": Self.text(&generator)])
          }
        }
        next += count
      }
    }
    #expect(error?.code == .outOfDiskSpace)
    #expect(error?.localizedDescription.contains("\(Self.limit) bytes") == true)
    return next
  }

  private func byteCount(_ store: SampledStore) throws -> Int {
    guard store.kind == .file else { return 0 }
    return try #require(
      try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  @Test(arguments: SampledStore.all)
  func `a database grows to its limit, loses nothing there, and can be emptied`(
    store: SampledStore
  ) throws {
    do {
      let realm = try Realm(configuration: configuration(store))
      let count = try fill(realm, from: 0, by: 7)
      // Most of the limit is of use.
      #expect(count * 1_200 > (Self.limit - Self.spare) / 3)
      #expect(try byteCount(store) <= Self.limit)
      #expect(realm.objects(LimitedNote.self).count == count)
      // What does not grow goes on; what is compressed may always grow a little.
      let note = try #require(realm.object(ofType: LimitedNote.self, forPrimaryKey: 3))
      let text = note.text
      if store.codec == .none {
        try realm.write { note.text = String(text.reversed()) }
      }
      // Nor is there room for one more, although the change used some of what is kept.
      #expect(throws: Realm.Error.self) {
        try realm.write {
          for id in count..<count + 400 {
            realm.create(LimitedNote.self, value: ["id": id, "text": text])
          }
        }
      }
      #expect(realm.objects(LimitedNote.self).count == count)
      for start in stride(from: 0, to: count, by: 20) {
        try realm.write {
          realm.delete(
            realm.objects(LimitedNote.self).where { $0.id >= start && $0.id < start + 20 })
        }
      }
      #expect(realm.isEmpty)
      #expect(try byteCount(store) <= Self.limit)
      // Emptied, it takes as much again.
      let again = try fill(realm, from: 1_000_000, by: 7)
      #expect(Double(again - 1_000_000) > Double(count) * 0.8)
      #expect(try byteCount(store) <= Self.limit)
    }
    try store.expectSound(configuration(store))
  }

  // What is compressed may become larger when a row goes; without syncs what is free lies in smaller pieces.
  @Test(arguments: SampledStore.all.filter { $0.codec == .none })
  func `what is kept for deletions is not worn away by what fills their places`(
    store: SampledStore
  ) throws {
    var configuration = configuration(store)
    configuration.durability = .full
    let realm = try Realm(configuration: configuration)
    var generator = SeededGenerator(seed: 4)
    var next = 0
    for _ in 0..<30 {
      #expect(throws: Realm.Error.self) {
        while next < 10_000 {
          try realm.write {
            realm.create(LimitedNote.self, value: ["id": next, "text": Self.text(&generator)])
          }
          next += 1
        }
      }
      let first = try #require(realm.objects(LimitedNote.self).min(of: \.id))
      for id in first..<first + 5 {
        try realm.write { realm.delete(realm.objects(LimitedNote.self).where { $0.id == id }) }
      }
    }
    while let note = realm.objects(LimitedNote.self).first {
      try realm.write { realm.delete(note) }
    }
    #expect(next > 300, "\(next)")
    #expect(realm.isEmpty)
  }

  @Test(arguments: SampledStore.all)
  func `a transaction that is too large changes nothing`(store: SampledStore) throws {
    let realm = try Realm(configuration: configuration(store))
    try realm.write { realm.create(LimitedNote.self, value: ["id": -1, "text": "there"]) }
    #expect(try fill(realm, from: 0, by: 20_000) == 0)
    #expect(realm.objects(LimitedNote.self).map(\.id) == [-1])
    try realm.write { realm.create(LimitedNote.self, value: ["id": -2, "text": "goes on"]) }
    #expect(realm.objects(LimitedNote.self).count == 2)
    #expect(try byteCount(store) <= Self.limit)
  }

  @Test func `what is larger than its limit can be made smaller`() throws {
    var low = configuration(.plain)
    do {
      let realm = try Realm(configuration: low)
      _ = try fill(realm, from: 0, by: 7)
    }
    low.maximumFileSize = 1 << 20
    let realm = try Realm(configuration: low)
    let count = realm.objects(LimitedNote.self).count
    for id in stride(from: 0, to: count, by: 2) {
      try realm.write { realm.delete(realm.objects(LimitedNote.self).where { $0.id == id }) }
    }
    #expect(realm.objects(LimitedNote.self).count == count / 2)
    #expect(throws: Realm.Error.self) {
      for id in 0..<2_000 {
        try realm.write {
          realm.create(
            LimitedNote.self, value: ["id": 9_000 + id, "text": String(repeating: "x", count: 900)])
        }
      }
    }
  }

  @Test func `whoever has no limit, or another one, keeps to that`() throws {
    let store = SampledStore.plain
    do {
      let realm = try Realm(configuration: configuration(store))
      _ = try fill(realm, from: 0, by: 7)
    }
    var free = configuration(store)
    free.maximumFileSize = nil
    let realm = try Realm(configuration: free)
    try realm.write {
      for id in 50_000..<60_000 {
        realm.create(LimitedNote.self, value: ["id": id, "text": "\(id)"])
      }
    }
    #expect(realm.objects(LimitedNote.self).where { $0.id >= 50_000 }.count == 10_000)
  }
}
