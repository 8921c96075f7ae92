import CambiumCore
import Foundation

/// What a step of ``RealmDatabase/changes(since:)`` tells.
public enum DatabaseChange: Sendable, Hashable {
  /// What happened before `position` is not known: whoever follows the database has to read it whole,
  /// and from then on what the next steps name.
  case snapshot(DatabasePosition)
  /// The objects that were touched until `position`, by the names of their classes; of classes that are
  /// not named nothing was.
  case changes(DatabasePosition, [String: TouchedObjects])

  /// Where the database stood.
  public var position: DatabasePosition {
    switch self {
    case .snapshot(let position), .changes(let position, _): position
    }
  }
}

/// A version of a database as whoever follows its changes keeps it, also in a file of his own.
///
/// Two positions are equal when they have the same contents; no position ever names two.
public struct DatabasePosition: Sendable, Hashable, Codable, Comparable {
  /// Rises when the database is opened for writing again.
  public let epoch: UInt64
  /// Rises with each commit.
  public let version: UInt64

  init(_ snapshot: Snapshot) {
    epoch = snapshot.epoch
    version = snapshot.version
  }

  /// Whether the left one was there first.
  public static func < (left: DatabasePosition, right: DatabasePosition) -> Bool {
    (left.epoch, left.version) < (right.epoch, right.version)
  }
}

/// The objects of a class that were touched between two positions; each in one of the sets.
public struct TouchedObjects: Sendable, Hashable {
  /// Those that came.
  public var inserted: Set<ObjectKey> = []
  /// Those of which a property was assigned, and those that went and came again.
  public var modified: Set<ObjectKey> = []
  /// Those that went.
  public var deleted: Set<ObjectKey> = []

  /// Objects that came, were modified, and went.
  public init(
    inserted: Set<ObjectKey> = [], modified: Set<ObjectKey> = [], deleted: Set<ObjectKey> = []
  ) {
    self.inserted = inserted
    self.modified = modified
    self.deleted = deleted
  }

  /// Whether nothing was touched.
  public var isEmpty: Bool { inserted.isEmpty && modified.isEmpty && deleted.isEmpty }
}

/// The primary key of an object, whatever its type.
public enum ObjectKey: Sendable, Hashable {
  /// An integer.
  case int(Int64)
  /// A text.
  case string(String)
  /// An identifier.
  case objectId(ObjectId)
  /// A UUID.
  case uuid(UUID)
  /// Null.
  case null
  /// Of a class without a primary key, a number that the object keeps as long as it is there, and that
  /// another one may have afterwards.
  case number(Int64)

  /// Texts are told apart by their bytes.
  public static func == (left: ObjectKey, right: ObjectKey) -> Bool {
    switch (left, right) {
    case (.int(let left), .int(let right)), (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.objectId(let left), .objectId(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.null, .null): true
    default: false
    }
  }

  /// Hashes the key.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .int(let key), .number(let key): hasher.combine(key)
    case .string(let key): hasher.combine(ExactText(key))
    case .objectId(let key): hasher.combine(key)
    case .uuid(let key): hasher.combine(key)
    case .null: hasher.combine(0)
    }
  }
}

extension TouchedObjects {
  /// The objects of touched rows, as they are in the newer version; `deleted` is what went.
  init(_ rows: TouchedRows, deleted: Set<ObjectKey>, in access: ClassAccess) {
    let came = access.objectKeys(of: rows.inserted)
    let assigned = rows.assigned
    let again = deleted.intersection(came)
    inserted = came.subtracting(again)
    modified = access.objectKeys(of: assigned).subtracting(came).union(again)
    self.deleted = deleted.subtracting(again)
  }
}

extension ClassAccess {
  /// The keys by which programs know those of the objects that are there.
  func objectKeys(of keys: Set<Int64>) -> Set<ObjectKey> {
    let index = stored.primaryKeyIndex
    let name = index.map { stored.objectSchema.allProperties[$0].name }
    var found: Set<ObjectKey> = []
    for key in keys {
      guard let object = object(forKey: key, as: layout.dynamicLayout) else { continue }
      guard let name else {
        found.insert(.number(key))
        continue
      }
      switch object.dynamicValue(name) {
      case let value as String: found.insert(.string(value))
      case let value as ObjectId: found.insert(.objectId(value))
      case let value as UUID: found.insert(.uuid(value))
      case let value as any BinaryInteger: found.insert(.int(Int64(value)))
      default: found.insert(.null)
      }
    }
    return found
  }
}
