/// What names a column for its whole life, and says what it holds.
///
/// ```
///  61 … 30   29 … 22       21 … 16   15 … 0
/// | tag     | attributes  | type    | leaf index |
/// ```
struct ColumnKey: Equatable {
  /// How values lie in a column's leaves.
  enum Storage: Int64 {
    case int = 0
    case bool = 1
    case string = 2
    case data = 4
    case mixed = 6
    case date = 8
    case float = 9
    case double = 10
    case decimal128 = 11
    case link = 12
    case objectId = 15
    case typedLink = 16
    case uuid = 17

    /// What users see.
    var type: RealmFileType {
      switch self {
      case .int: .int
      case .bool: .bool
      case .string: .string
      case .data: .data
      case .mixed, .typedLink: .mixed
      case .date: .date
      case .float: .float
      case .double: .double
      case .decimal128: .decimal128
      case .link: .link
      case .objectId: .objectId
      case .uuid: .uuid
      }
    }
  }

  /// The type that lists of links have below format 24.
  private static let linkList: Int64 = 13
  private static let nullable: Int64 = 16
  private static let list: Int64 = 32
  private static let dictionary: Int64 = 64
  private static let set: Int64 = 128

  let bits: Int64

  /// Where the column's leaf is found in a leaf of the object tree, less one.
  var leafIndex: Int { Int(bits & 0xFFFF) }
  private var attributes: Int64 { bits >> 22 & 0xFF }
  var isNullable: Bool { attributes & Self.nullable != 0 }

  /// The type; nil for one that no property has.
  var storage: Storage? {
    let number = bits >> 16 & 0x3F
    return number == Self.linkList ? .link : Storage(rawValue: number)
  }

  /// Whether the column is a collection; nil when it claims to be two at once.
  var collection: RealmFileProperty.Collection? {
    switch attributes & (Self.list | Self.dictionary | Self.set) {
    case 0: bits >> 16 & 0x3F == Self.linkList ? nil : RealmFileProperty.Collection.none
    case Self.list: .list
    case Self.dictionary: .dictionary
    case Self.set: .set
    default: nil
    }
  }
}
