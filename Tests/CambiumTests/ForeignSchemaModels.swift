import Cambium
import CambiumCore
import Foundation
import TestSupport

/// The classes of the program that has a Realm open.
enum HomeModels {
  final class Hound: MigratedObject {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var friend: Hound?
  }
  static let types: [ObjectBase.Type] = [Hound.self]
}

/// The same with an index.
enum IndexedModels {
  final class Hound: MigratedObject {
    @Persisted(indexed: true) var name = ""
    @Persisted var age = 0
    @Persisted var friend: Hound?
  }
  static let types: [ObjectBase.Type] = [Hound.self]
}

/// The same with a property that has an index.
enum RankedModels {
  final class Hound: MigratedObject {
    @Persisted(indexed: true) var rank = 0
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var friend: Hound?
  }
  static let types: [ObjectBase.Type] = [Hound.self]
}

/// The same with properties of every kind that others have to care for, and another class.
enum GrownModels {
  final class Hound: MigratedObject {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var friend: Hound?
    @Persisted(indexed: true) var born: Date?
    @Persisted var den: Den?
    @Persisted var dens: List<Den>
    @Persisted var pups: List<Hound>
    @Persisted var words: List<String>
    @Persisted var collar: Collar?
    @Persisted var toys: List<Collar>
  }
  final class Collar: SpecEmbedded {
    @Persisted(indexed: true) var color = ""
    @Persisted var den: Den?
    @Persisted var tags: List<Tag>
  }
  final class Tag: SpecEmbedded { @Persisted var text = "" }
  final class Den: MigratedObject {
    @Persisted(primaryKey: true) var id = 0
    @Persisted(originProperty: "dens") var hounds: LinkingObjects<Hound>
    @Persisted(originProperty: "den") var owners: LinkingObjects<Hound>
  }
  static let types: [ObjectBase.Type] = [Hound.self, Den.self, Collar.self, Tag.self]
}

/// Forms that the first one cannot live with.
enum ForeignModels {
  enum Retyped {
    final class Hound: MigratedObject {
      @Persisted var name = ""
      @Persisted var age = "0"
      @Persisted var friend: Hound?
    }
  }
  enum Shrunk {
    final class Hound: MigratedObject {
      @Persisted var name = ""
      @Persisted var friend: Hound?
    }
  }
  enum Optional {
    final class Hound: MigratedObject {
      @Persisted var name = ""
      @Persisted var age: Int?
      @Persisted var friend: Hound?
    }
  }
  enum Keyed {
    final class Hound: MigratedObject {
      @Persisted(primaryKey: true) var name = ""
      @Persisted var age = 0
      @Persisted var friend: Hound?
    }
  }
}

/// What another process does to the file in the meantime.
enum ForeignChange: String, Codable, Sendable, CaseIterable {
  case addIndex, dropIndex, addClass, rank, grow
  case feature, retype, shrink, makeOptional, addKey, removeClass, replaceClass, replaceProperty

  /// Does it to the file at `path`.
  func run(_ path: String) throws {
    switch self {
    case .addIndex: _ = try Self.open(path, IndexedModels.types)
    case .dropIndex: try Self.addHounds(path)
    case .addClass:
      let realm = try Self.open(path, [Thin.self])
      try realm.write { realm.add(Thin()) }
    case .rank: _ = try Self.open(path, RankedModels.types, version: 1)
    case .grow: try Self.grow(path)
    case .feature: try Self.raiseFeature(path)
    case .retype: _ = try Self.open(path, [ForeignModels.Retyped.Hound.self], version: 1)
    case .shrink: _ = try Self.open(path, [ForeignModels.Shrunk.Hound.self], version: 1)
    case .makeOptional: _ = try Self.open(path, [ForeignModels.Optional.Hound.self], version: 1)
    case .addKey: _ = try Self.open(path, [ForeignModels.Keyed.Hound.self], version: 1)
    case .removeClass: _ = try Self.open(path, [Thin.self], version: 1, deletes: true)
    case .replaceClass: _ = try Self.open(path, HomeModels.types, version: 1, deletes: true)
    case .replaceProperty:
      try Self.shrink.run(path)
      _ = try Self.open(path, HomeModels.types, version: 2)
    }
  }

  static func configuration(
    _ path: String, _ types: [ObjectBase.Type], version: UInt64 = 0, deletes: Bool = false
  ) -> Realm.Configuration {
    var configuration = SampledStore.plain.configuration(path, types)
    configuration.schemaVersion = version
    configuration.deleteRealmIfMigrationNeeded = deletes
    configuration.durability = .relaxed
    return configuration
  }

  static func open(
    _ path: String, _ types: [ObjectBase.Type], version: UInt64 = 0, deletes: Bool = false
  ) throws -> Realm {
    try Realm(
      configuration: configuration(path, types, version: version, deletes: deletes))
  }

  /// Adds a class, and says that readers must know something that nobody knows.
  private static func raiseFeature(_ path: String) throws {
    try autoreleasepool { _ = try open(path, [Thin.self]) }
    let configuration = configuration(path, [Thin.self])
    let request = Realm.StoreRequest(
      path: path, isReadOnly: false, codec: try SampledStore.plain.makeCodec())
    let database = try Database(store: configuration.store.open(request), codec: request.codec)
    let transaction = try database.beginWrite()
    try transaction.setValue("schema/features", [0, 0, 0, 0, 0, 0, 0, 0x40])
    _ = try transaction.commit()
    try database.close()
  }

  private static func addHounds(_ path: String) throws {
    let realm = try open(path, HomeModels.types)
    try realm.write {
      for _ in 0..<3 { realm.create(HomeModels.Hound.self, value: ["name": "n7", "age": 100]) }
    }
  }

  private static func grow(_ path: String) throws {
    let realm = try open(path, GrownModels.types, version: 1)
    try realm.write {
      let dens = (0..<4).map { realm.create(GrownModels.Den.self, value: ["id": $0]) }
      let hounds = Array(realm.objects(GrownModels.Hound.self))
      for (index, hound) in hounds.enumerated() {
        hound.born = index % 3 == 0 ? nil : Date(timeIntervalSince1970: Double(index))
        hound.den = dens[index % 4]
        hound.dens.append(objectsIn: [dens[0], dens[index % 4], dens[0]])
        hound.pups.append(objectsIn: [hounds[0], hounds[(index + 1) % hounds.count]])
        hound.words.append("word \(index)")
        let collar: [String: Any] = [
          "color": "c\(index)", "den": dens[1], "tags": [["a"], ["b"]],
        ]
        hound.collar = GrownModels.Collar(value: collar)
        hound.toys.append(objectsIn: (0..<3).map { _ in GrownModels.Collar(value: collar) })
      }
      // Lists of this length have a tree of their own.
      hounds[5].dens.append(objectsIn: (0..<2000).map { dens[$0 % 4] })
      hounds[6].pups.append(objectsIn: (0..<2000).map { hounds[$0 % hounds.count] })
    }
  }
}
