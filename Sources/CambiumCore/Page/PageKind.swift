/// What a page is; its first byte repeats it.
///
/// Raw values are part of the file format. Kinds up to 15 belong to trees, those from 16 on to
/// stores, which hold them under their own rules.
@frozen public enum PageKind: UInt8, Sendable, CaseIterable {
  /// Keys and values of a ``KeyTree``.
  case keyLeaf = 1
  /// Separators and children of a ``KeyTree``.
  case keyBranch = 2
  /// Rows of a ``ColumnTree``, by column.
  case columnLeaf = 3
  /// Separators and children of a ``ColumnTree``.
  case columnBranch = 4
  /// A piece of a value that is too large for its leaf. The only kind without a kind byte: all of
  /// it is the value, padded with zeros.
  case overflow = 5
}
