/// The eight bytes with which an `@Persisted` property begins inside of its object.
///
///      0        2       4       5       6       8
///     | column | index | state | flags | place |
///
/// `place` is where a leaf's directory has the column, unless it leaves earlier ones out.
///
/// A managed object's heads are written when the accessor is made, from its ``ClassLayout``: reading a
/// property then needs no search for its column.
@frozen public struct _PersistedHead: BitwiseCopyable, Sendable {
  @usableFromInline var column: UInt16
  @usableFromInline var index: UInt16
  @usableFromInline var state: UInt8
  @usableFromInline var flags: UInt8
  @usableFromInline var place: UInt16 = 0

  @usableFromInline static let unmanaged: UInt8 = 0
  @usableFromInline static let managed: UInt8 = 1
  @usableFromInline static let managedAndKept: UInt8 = 2
  @usableFromInline static let traced: UInt8 = 3
  /// The object is unmanaged, and the property was given a value that its type cannot hold.
  @usableFromInline static let unfit: UInt8 = 4

  @usableFromInline static let indexed: UInt8 = 1
  @usableFromInline static let primaryKey: UInt8 = 2

  /// In a managed property's flags: its column is not in the first group of its table.
  @usableFromInline static let laterGroup: UInt8 = 4

  /// The head of a property whose object is unmanaged.
  @inlinable init(flags: UInt8 = 0) {
    column = 0
    index = 0
    state = _PersistedHead.unmanaged
    self.flags = flags
  }

  /// The head of property number `index`, stored in `column`, in `state`.
  @inlinable init(column: UInt16, index: UInt16, state: UInt8) {
    self.column = column
    self.index = index
    self.state = state
    flags = 0
  }
}
