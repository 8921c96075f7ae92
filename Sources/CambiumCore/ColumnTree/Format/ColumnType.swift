/// What the cells of a column are; raw values are part of the file format.
@frozen public enum ColumnType: UInt8, Sendable, CaseIterable {
  /// 64-bit integers; also keys of linked rows and everything else that counts.
  case int = 1
  /// True or false.
  case bool = 2
  /// 32-bit floating point.
  case float = 3
  /// 64-bit floating point.
  case double = 4
  /// 128 bits, kept as they are.
  case wide = 5
  /// Bytes of any length: text, data, small collections, roots of large ones.
  case bytes = 6
}

/// How a leaf stores a column; raw values are part of the file format.
@frozen public enum ColumnEncoding: UInt8, Sendable, CaseIterable {
  /// Every row that is not null holds the same value.
  case constant = 1
  /// Integers as a base and offsets of 1, 2, 4, 8, 16, 32 or 64 bits; of 128-bit values the high words,
  /// and the low ones behind them.
  case packed = 2
  /// Float, Double and 128-bit values as they are.
  case raw = 3
  /// A bit for each row.
  case bitmap = 4
  /// Bytes one after another, found by their lengths.
  case variable = 5
  /// Codes into a list of distinct values.
  case dictionary = 6
}

/// A tree's view of a column.
///
/// Pointers: the bytes of a default are none.
@frozen public struct ColumnSpec: Hashable, Sendable {
  /// The column's number; never used again within a tree.
  public var id: UInt16
  /// What its cells are.
  public var type: ColumnType
  /// Whether a cell may be null.
  ///
  /// The default is null then, otherwise 0, false or empty.
  public var isNullable: Bool

  /// A column of that number, whose cells are of `type`.
  @inlinable public init(id: UInt16, type: ColumnType, isNullable: Bool) {
    self.id = id
    self.type = type
    self.isNullable = isNullable
  }

  /// What a column holds where a leaf lacks it.
  @inlinable public var defaultValue: ColumnValue {
    if isNullable { return .null }
    switch type {
    case .int: return .int(0)
    case .bool: return .bool(false)
    case .float: return .float(0)
    case .double: return .double(0)
    case .wide: return .wide(low: 0, high: 0)
    case .bytes: return unsafe .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }
}

/// The columns of a tree, sorted by id.
public struct ColumnLayout: Hashable, Sendable {
  /// The columns in ascending order of their ids.
  public let columns: [ColumnSpec]

  /// Sorts `columns`; no id may occur twice.
  public init(_ columns: [ColumnSpec]) {
    let sorted = columns.sorted { $0.id < $1.id }
    for (left, right) in zip(sorted, sorted.dropFirst()) {
      precondition(
        left.id != right.id, "Column \(left.id) occurs twice in a layout; give each its own id.")
    }
    self.columns = sorted
  }

  /// The place of column `id`, or nil.
  public func index(of id: UInt16) -> Int? {
    var low = 0
    var high = columns.count
    while low < high {
      let middle = (low + high) / 2
      if columns[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < columns.count && columns[low].id == id ? low : nil
  }
}

/// A cell on its way into or out of a tree.
///
/// Pointers inside are borrowed: into a tree they must last for the call, out of it they last until
/// the editor's next call.
@safe @frozen public enum ColumnValue {
  /// No value; only in nullable columns.
  case null
  /// An integer.
  case int(Int64)
  /// True or false.
  case bool(Bool)
  /// 32-bit floating point.
  case float(Float)
  /// 64-bit floating point.
  case double(Double)
  /// 128 bits in two words.
  case wide(low: UInt64, high: UInt64)
  /// Bytes of any length.
  case bytes(UnsafeRawBufferPointer)
  /// A tree of its own that the row owns, in a column of bytes.
  ///
  /// When a tree takes the place of a tree, it is what became of it by editing: what the old one no
  /// longer shares was freed by its editor. Replaced by anything else, or removed with its row, a tree
  /// is abandoned.
  case tree(TreeRoot)
}
