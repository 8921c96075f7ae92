import CambiumCore

extension StoredElements {
  /// The objects to which the elements link.
  func links() throws(StoreError) -> [Int64] {
    var links: [Int64] = []
    try forEach { if let link = $0.link { links.append(link) } }
    return links
  }

  /// The objects to which a property's cell links, be it one link or a collection; nil where an element
  /// is null.
  ///
  /// A cell that breaks the format links to nothing.
  static func links(
    in cell: ColumnValue, _ source: PageSource
  ) throws(StoreError) -> [Int64?] {
    if let link = cell.link { return [link] }
    if case .null = cell { return [] }
    var links: [Int64?] = []
    try StoredElements(cell, .int, source)?.forEach { links.append($0.link) }
    return links
  }

  /// The objects that a property's cell of any type, or a collection of such values, holds.
  static func anyLinks(
    in cell: ColumnValue, _ property: Property, _ source: PageSource
  ) throws(StoreError) -> [StoredAnyLink] {
    guard property.isCollection else { return StoredAny.links(in: cell) }
    var links: [StoredAnyLink] = []
    try StoredElements(cell, .bytes, source)?.forEach { links += StoredAny.links(in: $0) }
    return links
  }
}
