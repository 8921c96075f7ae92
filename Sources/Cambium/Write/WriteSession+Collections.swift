import CambiumCore

extension WriteSession {
  /// A collection of an object, or one inside of a value of any type, open for changes.
  func elements(at place: CollectionPlace) throws(StoreError) -> any ElementEditor {
    if place.inside != nil { return NestedEditor(session: self, place: place) }
    return try collection(at: place)
  }

  /// A collection that is a property of an object, open for changes.
  func collection(at place: CollectionPlace) throws(StoreError) -> CollectionEditor {
    CollectionEditor(
      session: self, table: try editor(place.access).table, key: place.key, column: place.column,
      type: place.shape.elementType, hasKeys: place.shape.isMap)
  }

  /// Notes the links that elements of a collection are, if they are any.
  func addLinks(_ elements: [ColumnValue], of place: CollectionPlace) throws(StoreError) {
    for element in elements { try addLinks(element, of: place) }
  }

  /// Notes the links that an element of a collection is or holds, if there are any.
  @inline(__always)
  func addLinks(_ element: ColumnValue, of place: CollectionPlace) throws(StoreError) {
    let shape = place.shape
    if !shape.holdsLinks { return }
    if let target = place.target {
      guard let link = element.link else { return }
      try backlinks(to: target.index).add(place.backlink(to: link))
    } else if shape.type == .any {
      for link in StoredAny.links(in: element) {
        try addLink(place.backlink(to: link.key), toTable: link.table)
      }
    }
  }

  /// Forgets the links that elements of a collection were, if they were any.
  func removeLinks(_ elements: [ColumnValue], of place: CollectionPlace) throws(StoreError) {
    if let target = place.target {
      for case let link? in elements.lazy.map(\.link) {
        try removeLink(place.backlink(to: link), to: target.index)
      }
    } else if place.shape.type == .any {
      for link in elements.flatMap({ StoredAny.links(in: $0) }) {
        try removeLink(place.backlink(to: link.key), toTable: link.table)
      }
    }
  }

  /// Ends what the transaction knows of a collection whose owner is about to go.
  func dropCollection(at place: CollectionPlace) throws(StoreError) {
    let collection = try collection(at: place)
    if place.shape.holdsLinks {
      // Of bytes copies: taking links away may read and write.
      let cells = unsafe CellStore(realm)
      try collection.forEach { cells.append($0) }
      try removeLinks(cells.cells, of: place)
    }
    try collection.close()
  }
}
