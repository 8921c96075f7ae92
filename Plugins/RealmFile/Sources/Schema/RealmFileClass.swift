/// A class in a `.realm` file.
public struct RealmFileClass: Hashable, Sendable {
  /// What the objects of a class are.
  public enum Kind: String, Hashable, Sendable {
    /// Objects of their own.
    case object
    /// Parts of another object, which one link leads to.
    case embedded
    /// Messages to a server; their objects are not read.
    case asymmetric
  }

  /// The persisted name, without the prefix that its table has.
  public var name: String
  /// What its objects are.
  public var kind: Kind
  /// The properties in the order of the schema, without bookkeeping ones.
  public var properties: [RealmFileProperty]
  /// The index of the primary key among the properties; nil for none.
  public var primaryKey: Int?
  /// How many objects the class claims to have; 0 for asymmetric classes.
  public var objectCount: Int
}

/// A property of a class in a `.realm` file.
public struct RealmFileProperty: Hashable, Sendable {
  /// How many values of its type a property has.
  public enum Collection: String, Hashable, Sendable {
    /// One.
    case none
    /// Several, in the user's order.
    case list
    /// Several that differ from each other.
    case set
    /// One for each of several keys.
    case dictionary
  }

  /// The persisted name.
  public var name: String
  /// The type of the value, or of the elements of a collection.
  public var type: RealmFileType
  /// Whether it is a collection.
  public var collection: Collection
  /// Whether the value, or an element, may be null.
  public var isOptional: Bool
  /// Whether it has a search index; not told of primary keys, which always have one.
  public var isIndexed: Bool
  /// Whether it has an index of the words in it.
  public var isFullTextIndexed: Bool
  /// The class that links lead to, an index into ``RealmFile/classes``; nil for other types.
  public var target: Int?
  /// Whether it is a dictionary whose keys are integers and not strings.
  public var hasIntegerKeys: Bool
}

/// The type of a property in a `.realm` file.
public enum RealmFileType: String, CaseIterable, Hashable, Sendable {
  /// A signed integer of 64 bits.
  case int
  /// A truth value.
  case bool
  /// A text.
  case string
  /// Bytes.
  case data
  /// Seconds and nanoseconds.
  case date
  /// A number of 32 bits.
  case float
  /// A number of 64 bits.
  case double
  /// A decimal number of 128 bits.
  case decimal128
  /// 12 bytes.
  case objectId
  /// 16 bytes.
  case uuid
  /// An object of one class.
  case link
  /// A value of any type, also a link to any class, a list or a dictionary.
  case mixed
}
