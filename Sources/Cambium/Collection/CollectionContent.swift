import CambiumCore

/// The elements of a collection as they were found; valid until the class's rows move.
///
/// Pointers: elements that lie in a row's cell are copied into memory that this owns and frees; keys and
/// texts point there. Whoever uses them keeps this alive.
@safe final class CollectionContent {
  let elements: StoredElements
  /// The cell's bytes, copied out of its page.
  private let bytes: UnsafeRawBufferPointer

  /// The elements of the collection that `cell` holds; none when it breaks the format.
  init(_ cell: ColumnValue, _ type: ColumnType, _ source: PageSource) {
    guard case .bytes(let borrowed) = cell, unsafe !borrowed.isEmpty else {
      unsafe bytes = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      elements = StoredElements(cell, type, source) ?? .none(type)
      return
    }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: borrowed.count, alignment: 8)
    unsafe copy.copyMemory(from: borrowed)
    unsafe bytes = UnsafeRawBufferPointer(copy)
    elements = unsafe StoredElements(.bytes(bytes), type, source) ?? .none(type)
  }

  /// The elements of a tree that the running transaction changes.
  init(_ tree: CollectionTreeEditor) {
    unsafe bytes = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    elements = .open(tree)
  }

  /// The elements of a list or dictionary inside of a value.
  init(_ nested: NestedElements) {
    unsafe bytes = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    elements = .nested(nested)
  }

  deinit { unsafe bytes.deallocate() }
}
