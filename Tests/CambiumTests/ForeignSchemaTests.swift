import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Cambium

private typealias Hound = HomeModels.Hound

/// A Realm that stays open, on a queue of its own, while other processes change the schema of its
/// file.
private final class Home {
  private let folder: TemporaryFolder
  private let queue = DispatchQueue(label: "home")
  private var realm: Realm?
  let path: String

  init(_ types: [ObjectBase.Type] = HomeModels.types) throws {
    folder = try TemporaryFolder()
    path = folder.file("home.realm")
    let configuration = ForeignChange.configuration(path, types)
    realm = try queue.sync { try Realm(configuration: configuration, queue: queue) }
    // Each test says itself when it moves.
    realm?.autorefresh = false
  }

  /// With hounds n0 to n9, five of each.
  static func filled() throws -> Home {
    let home = try Home()
    try home.use { realm in
      try realm.write {
        let hounds = (0..<50).map {
          realm.create(Hound.self, value: ["name": "n\($0 % 10)", "age": $0] as [String: Any])
        }
        for (index, hound) in hounds.enumerated() { hound.friend = hounds[(index + 7) % 50] }
      }
    }
    return home
  }

  /// Runs `body` in the Realm's context.
  func use<Result>(_ body: (Realm) throws -> Result) throws -> Result {
    try queue.sync { try body(#require(realm)) }
  }

  /// Lets another process change the file.
  func elsewhere(_ change: ForeignChange) async {
    await #expect(processExitsWith: .success) {
      [change = change as ForeignChange, path = path as String] in try change.run(path)
    }
  }

  /// Closes the Realm and notes a failure unless the file is sound: each index agrees with its rows
  /// and each link with its backlink.
  func close() throws {
    queue.sync { realm = nil }
    try SampledStore.plain.expectSound(ForeignChange.configuration(path, HomeModels.types))
  }
}

/// What an open Realm does when somebody else changes the schema of its file.
@Suite struct ForeignSchemaTests {
  // MARK: What it lives with

  @Test(arguments: [true, false])
  func `an index that another process adds is kept true by whoever was there before`(
    refreshes: Bool
  ) async throws {
    let home = try Home.filled()
    let live = try home.use { realm in
      let live = realm.objects(Hound.self).where { $0.name == "n7" }
      #expect(live.count == 5)
      return live
    }
    await home.elsewhere(.addIndex)
    try home.use { realm in
      if refreshes { #expect(realm.refresh()) }
      try realm.write {
        realm.create(Hound.self, value: ["name": "n7"])
        realm.objects(Hound.self).where { $0.name == "n1" }[0].name = "n7"
        realm.objects(Hound.self).where { $0.name == "n7" && $0.age == 7 }[0].name = "other"
        realm.delete(realm.objects(Hound.self).where { $0.age == 17 }[0])
        realm.delete(realm.objects(Hound.self).where { $0.name == "n2" })
      }
      #expect(live.count == 5)
      #expect(realm.objects(Hound.self).where { $0.name == "n7" }.map(\.age).sorted().count == 5)
      #expect(realm.objects(Hound.self).where { $0.name == "n2" }.isEmpty)
      #expect(realm.objects(Hound.self).where { $0.name == "other" }.map(\.age) == [7])
    }
    try home.close()
    let realm = try ForeignChange.open(home.path, IndexedModels.types)
    let all = realm.objects(IndexedModels.Hound.self)
    for name in ["n1", "n2", "n3", "n7", "other"] {
      #expect(all.where { $0.name == name }.count == all.filter { $0.name == name }.count)
    }
  }

  @Test func `an index that another process drops is no longer asked`() async throws {
    let home = try Home(IndexedModels.types)
    let live = try home.use { realm in
      try realm.write {
        for index in 0..<50 {
          realm.create(
            IndexedModels.Hound.self,
            value: ["name": "n\(index % 10)", "age": index] as [String: Any])
        }
      }
      let live = realm.objects(IndexedModels.Hound.self).where { $0.name == "n7" }
      #expect(live.count == 5)
      return live
    }
    let frozen = try home.use { _ in live.freeze() }
    await home.elsewhere(.dropIndex)
    try home.use { realm in
      #expect(live.count == 5)
      #expect(realm.refresh())
      #expect(live.count == 8)
      #expect(live.sorted(byKeyPath: "age").last?.age == 100)
      try realm.write { live[0].name = "renamed" }
      #expect(live.count == 7)
      #expect(realm.objects(IndexedModels.Hound.self).where { $0.name == "renamed" }.count == 1)
    }
    #expect(frozen.count == 5 && frozen.where { $0.name == "n8" }.isEmpty)
    try home.close()
  }

  @Test func `a class that another process adds changes nothing`() async throws {
    let home = try Home.filled()
    let before = try home.use { $0.instance.comparedLayout.generation }
    await home.elsewhere(.addClass)
    try home.use { realm in
      #expect(realm.refresh())
      #expect(realm.instance.comparedLayout.generation == before + 1)
      try realm.write { realm.create(Hound.self, value: ["name": "new"]) }
      #expect(realm.objects(Hound.self).count == 51)
      let queue = DispatchQueue(label: "other")
      let count = try queue.sync {
        try Realm(configuration: realm.configuration, queue: queue).objects(Hound.self).count
      }
      #expect(count == 51)
    }
    try home.close()
  }

  @Test func `a new property with an index is kept true by rows that come and go`() async throws {
    let home = try Home.filled()
    await home.elsewhere(.rank)
    try home.use { realm in
      try realm.write {
        for index in 0..<3 { realm.create(Hound.self, value: ["name": "new \(index)"]) }
        realm.delete(realm.objects(Hound.self).where { $0.age == 5 }[0])
        realm.delete(realm.objects(Hound.self).where { $0.name == "n3" })
      }
      #expect(realm.objects(Hound.self).count == 47)
    }
    try home.close()
    do {
      let ranked = try ForeignChange.open(home.path, RankedModels.types, version: 1)
      #expect(ranked.objects(RankedModels.Hound.self).where { $0.rank == 0 }.count == 47)
    }
  }

  @Test func `deleting everything empties indexes of properties that came later`() async throws {
    let home = try Home.filled()
    await home.elsewhere(.rank)
    try home.use { realm in
      try realm.write {
        realm.deleteAll()
        realm.create(Hound.self, value: ["name": "last"])
      }
    }
    try home.close()
  }

  @Test(arguments: [1, 3, 20, 50])
  func `links and lists of new properties go with their objects`(count: Int) async throws {
    let home = try Home.filled()
    await home.elsewhere(.grow)
    try home.use { realm in
      #expect(realm.refresh())
      #expect(realm.objects(Hound.self).count == 50)
      try realm.write {
        realm.create(Hound.self, value: ["name": "new"])
        // Those with lists of their own trees first; what they link to goes with them or before.
        let doomed = realm.objects(Hound.self).sorted(byKeyPath: "age").where { $0.age >= 5 }
        if count < 4 {
          for hound in Array(doomed.prefix(count)) { realm.delete(hound) }
        } else {
          realm.delete(doomed.prefix(count))
          realm.delete(realm.objects(Hound.self).where { $0.name == "n0" })
        }
      }
    }
    try home.close()
    let grown = try ForeignChange.open(home.path, GrownModels.types, version: 1)
    let hounds = grown.objects(GrownModels.Hound.self)
    #expect(hounds.where { $0.born == nil }.count == hounds.filter { $0.born == nil }.count)
    #expect(hounds.filter { $0.collar != nil }.count == hounds.count - 1)
    #expect(grown.dynamicObjects("Collar").count == (hounds.count - 1) * 4)
    #expect(grown.dynamicObjects("Tag").count == (hounds.count - 1) * 8)
    for den in grown.objects(GrownModels.Den.self) {
      #expect(den.owners.count == hounds.filter { $0.den?.id == den.id }.count)
      let links = hounds.reduce(0) { $0 + $1.dens.filter { $0.id == den.id }.count }
      #expect(den.hounds.count == links)
    }
    try grown.write { grown.delete(grown.objects(GrownModels.Den.self)) }
  }

  @Test func `whoever opens a file to read it later than others sees the classes added meanwhile`()
    async throws
  {
    let home = try Home.filled()
    try home.close()
    var configuration = ForeignChange.configuration(home.path, HomeModels.types + [Thin.self])
    configuration.readOnly = true
    let queues = (0..<2).map { DispatchQueue(label: "reader \($0)") }
    let first = try queues[0].sync {
      let realm = try Realm(configuration: configuration, queue: queues[0])
      #expect(realm.objects(Thin.self).isEmpty)
      return realm
    }
    await home.elsewhere(.addClass)
    try queues[1].sync {
      let second = try Realm(configuration: configuration, queue: queues[1])
      #expect(second.objects(Thin.self).count == 1 && second.objects(Hound.self).count == 50)
    }
    queues[0].sync { #expect(first.objects(Thin.self).isEmpty) }
  }

  // MARK: What stops it

  @Test(arguments: [
    (
      ForeignChange.feature,
      "Features that this library does not know were put to use (bits 0x4000000000000000)."
    ),
    (.retype, "Property 'Hound.age' has been changed from '<int>' to '<string>'."),
    (.shrink, "Property 'Hound.age' has been removed."),
    (.makeOptional, "Property 'Hound.age' has been made optional."),
    (.addKey, "Primary Key for class 'Hound' has been added."),
    (.removeClass, "Class 'Hound' has been removed."),
    (.replaceClass, "Class 'Hound' has been removed and added again."),
    (.replaceProperty, "Property 'Hound.age' has been removed and added again."),
  ])
  func `what the classes do not fit keeps the Realm where it is, and writing says why`(
    change: ForeignChange, line: String
  ) async throws {
    let home = try Home.filled()
    if change == .addKey {
      // Primary keys have to differ.
      try home.use { realm in
        try realm.write {
          for hound in realm.objects(Hound.self) { hound.name += " \(hound.age)" }
        }
      }
    }
    let (live, first) = try home.use { realm in
      let live = realm.objects(Hound.self).where { $0.age < 10 }
      return (live, live[0])
    }
    await home.elsewhere(change)
    try home.use { realm in
      for _ in 0..<2 {
        #expect(!realm.refresh())
        let error = #expect(throws: Realm.Error.self) {
          try realm.write { Issue.record("the block has run") }
        }
        #expect(error?.code == .schemaMismatch)
        let text = error?.message ?? ""
        #expect(
          text.hasPrefix("Unsupported schema changes were made by another client or process:\n"))
        #expect(text.contains("\n- \(line)\n"), "\(text)")
        #expect(text.contains("Close every Realm of '\(home.path)'"))
      }
      // What was seen before can still be read.
      #expect(!realm.isInWriteTransaction)
      #expect(live.count == 10 && live.map(\.age).sorted() == Array(0..<10))
      #expect(first.age == 0 && first.friend?.age == 7)
      #expect(realm.freeze().objects(Hound.self).count == 50)
      let queue = DispatchQueue(label: "other")
      let opening = #expect(throws: Realm.Error.self) {
        _ = try queue.sync { try Realm(configuration: realm.configuration, queue: queue) }
      }
      #expect(opening?.code == .schemaMismatch)
    }
    try home.close()
  }

  @Test func `an observer stays with its Realm at the last version that the classes fit`()
    async throws
  {
    let home = try Home.filled()
    let told = Mutex<[String]>([])
    let token = try home.use { realm in
      realm.autorefresh = true
      return realm.objects(Hound.self).observe { change in
        switch change {
        case .initial(let hounds): told.withLock { $0.append("initial \(hounds.count)") }
        case .update, .error: told.withLock { $0.append("more") }
        }
      }
    }
    await home.elsewhere(.addClass)
    await home.elsewhere(.retype)
    // What the context was to do has been done when it has refreshed by itself or not.
    for _ in 0..<100 {
      try home.use { realm in
        #expect(!realm.refresh())
        #expect(realm.objects(Hound.self).count == 50)
      }
    }
    #expect(told.withLock { $0 } == ["initial 50"])
    _ = try home.use { _ in token.invalidate() }
    try home.close()
  }

  @Test func `reading anew stops where the classes do not fit the only version there is`()
    async throws
  {
    let folder = try TemporaryFolder()
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("a.realm") as String] in
      let realm = try ForeignChange.open(path, HomeModels.types, deletes: true)
      _ = try ForeignChange.open(path, [ForeignModels.Retyped.Hound.self], deletes: true)
      #expect(!realm.refresh() && realm.isEmpty)
      realm.invalidate()
      _ = realm.isEmpty
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Unsupported schema changes were made by another client"), "\(text)")
  }

  // MARK: What it costs

  @Test func `commits that change no schema are followed without a comparison`() throws {
    let folder = try TemporaryFolder()
    let configuration = specFile(folder, HomeModels.types)
    let realm = try Realm(configuration: configuration)
    let generation = realm.instance.comparedLayout.generation
    let queue = DispatchQueue(label: "other")
    for index in 0..<3 {
      try queue.sync {
        let other = try Realm(configuration: configuration, queue: queue)
        try other.write { other.create(Hound.self, value: ["age": index]) }
      }
      #expect(realm.refresh())
      #expect(realm.instance.comparedLayout.generation == generation)
      #expect(realm.objects(Hound.self).count == index + 1)
    }
  }

  // MARK: In one process

  @Test func `another set of classes may add and drop an index beside an open Realm`() throws {
    let folder = try TemporaryFolder()
    let realm = try Realm(configuration: specFile(folder, HomeModels.types))
    let live = realm.objects(Hound.self).where { $0.name == "a" }
    func addHound() throws { try realm.write { realm.create(Hound.self, value: ["name": "a"]) } }
    try addHound()
    let indexed = try Realm(configuration: specFile(folder, IndexedModels.types))
    let found = indexed.objects(IndexedModels.Hound.self).where { $0.name == "a" }
    try addHound()
    #expect(live.count == 2)
    #expect(indexed.refresh() && found.count == 2)
    // A third set of classes, which has the first one's form.
    _ = try Realm(configuration: specFile(folder, HomeModels.types + [Thin.self]))
    try addHound()
    try indexed.write { indexed.create(IndexedModels.Hound.self, value: ["name": "a"]) }
    #expect(found.count == 4 && realm.refresh() && live.count == 4)
  }
}
