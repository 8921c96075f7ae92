import CambiumCore

extension WriteSession {
  /// A collection of an object, open for changes.
  func collection(at place: CollectionPlace) throws(StoreError) -> CollectionEditor {
    CollectionEditor(
      session: self, table: try editor(place.access).table, key: place.key, column: place.column,
      type: place.elementType, hasKeys: place.property.isMap)
  }

  /// Notes the links that elements of a collection are, if they are any.
  func addLinks(_ elements: [ColumnValue], of place: CollectionPlace) throws(StoreError) {
    guard let target = place.target else { return }
    let backlinks = try backlinks(to: target.index)
    for case let link? in elements.lazy.map(\.link) { try backlinks.add(place.backlink(to: link)) }
  }

  /// Forgets links from a collection, which are none where its elements are values.
  func removeLinks(to targets: [Int64], of place: CollectionPlace) throws(StoreError) {
    guard let target = place.target, !targets.isEmpty else { return }
    for link in targets { try removeLink(place.backlink(to: link), to: target.index) }
  }

  /// Ends what the transaction knows of a collection whose owner is about to go.
  func dropCollection(at place: CollectionPlace) throws(StoreError) {
    let collection = try collection(at: place)
    if place.target != nil { try removeLinks(to: collection.links(), of: place) }
    try collection.close()
  }
}
