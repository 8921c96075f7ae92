import CambiumCore

/// The elements of a list or dictionary inside of a value of any type in a write transaction.
///
/// The value is written as a whole.
///
/// Pointers: the caller lends the bytes of a key, which are copied.
struct NestedEditor: ElementEditor {
  let session: WriteSession
  let place: CollectionPlace

  func replace(
    _ range: Range<Int>, with elements: [ColumnValue], keys: [ColumnValue]?
  ) throws(StoreError) {
    let values = elements.map { StoredAny($0) ?? .none }
    try change { collection in
      switch collection {
      case .list(let identifier, var old):
        old.replaceSubrange(range, with: values)
        return .list(identifier: identifier, old)
      case .dictionary(let identifier, var old):
        let entries = zip(keys ?? [], values).map { key, value in
          StoredAny.Entry(key: Self.bytes(of: key), value: value)
        }
        old.replaceSubrange(range, with: entries)
        return .dictionary(identifier: identifier, old)
      default: return collection
      }
    }
  }

  func assign(_ elements: [(position: Int, element: ColumnValue)]) throws(StoreError) {
    let values = elements.map { ($0.position, StoredAny($0.element) ?? .none) }
    try change { collection in
      switch collection {
      case .list(let identifier, var old):
        for (position, value) in values { old[position] = value }
        return .list(identifier: identifier, old)
      case .dictionary(let identifier, var old):
        for (position, value) in values { old[position].value = value }
        return .dictionary(identifier: identifier, old)
      default: return collection
      }
    }
  }

  private static func bytes(of key: ColumnValue) -> [UInt8] {
    if case .bytes(let bytes) = key { unsafe Array(bytes) } else { [] }
  }

  /// Writes the value of which the collection is a part, with what `body` makes of it.
  private func change(_ body: (StoredAny) -> StoredAny) throws(StoreError) {
    guard let inside = place.inside, let (found, position) = place.holder(of: inside),
      let collection = found.collection(inside)
    else { return }
    var value = found
    _ = value.replace(body(collection))
    // What is put into a collection deep inside may have levels of its own.
    if value.isTooDeep() { StoredAny.stopAsTooDeep() }
    let outermost = place.outermost
    try value.withStoreCell { cell throws(StoreError) in
      if outermost.property.isCollection {
        try session.collection(at: outermost).assign([(position, cell)])
      } else {
        let editor = try session.editor(place.access)
        _ = try editor.table.update(key: place.key, column: place.column, value: cell)
      }
    }
  }
}
