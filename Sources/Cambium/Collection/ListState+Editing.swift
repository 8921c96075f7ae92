import CambiumCore

extension ListState {
  /// Puts elements in at `index`.
  func insert<Element: RealmCollectionValue>(_ elements: [Element], at index: Int) {
    let session = writing()
    if elements.isEmpty { return }
    session.policy = session.isDraining ? session.policy : .error
    session.check(elements, areOf: list.access.target(list.index))
    var links: [Int64] = []
    // Bytes must outlive the closure in which an element lends its cell.
    let cells = CellStore(realm)
    for element in elements {
      element._rlmWithElementCell(in: Realm(realm)) { cell in
        if let link = cell.link { links.append(link) }
        cells.append(cell)
      }
    }
    session.attempt { () throws(StoreError) in
      try splice(session, index..<index, cells.cells)
      try addLinks(session, links)
    }
    changed()
    session.drain()
    session.spillIfNeeded()
  }

  /// Takes the elements of `range` out.
  func remove(_ range: Range<Int>) {
    let session = writing()
    if range.isEmpty { return }
    let links = links(in: range)
    session.attempt { () throws(StoreError) in
      try splice(session, range, [])
      try removeLinks(session, links)
    }
    changed()
    session.spillIfNeeded()
  }

  /// Replaces one element.
  func replace<Element: RealmCollectionValue>(_ index: Int, with element: Element) {
    let session = writing()
    let old = links(in: index..<index + 1)
    let cells = CellStore(realm)
    session.check([element], areOf: list.access.target(list.index))
    element._rlmWithElementCell(in: Realm(realm)) { cells.append($0) }
    session.attempt { () throws(StoreError) in
      if let tree = try openTree(session) {
        try tree.update(cells.cells[0], at: index)
      } else {
        try splice(session, index..<index + 1, cells.cells)
      }
      try removeLinks(session, old)
      try addLinks(session, cells.cells.compactMap(\.link))
    }
    changed()
    session.drain()
    session.spillIfNeeded()
  }

  /// Takes the element at `from` out and puts it in so that it ends at `to`.
  func move(from: Int, to: Int) {
    if from == to { return }
    let session = writing()
    let cells = CellStore(realm)
    current().withElement(from, elementType, realm) { cells.append($0) }
    session.attempt { () throws(StoreError) in
      try splice(session, from..<from + 1, [])
      changed()
      try splice(session, to..<to, cells.cells)
    }
    changed()
    session.spillIfNeeded()
  }

  /// Exchanges two elements.
  func swap(_ first: Int, _ second: Int) {
    if first == second { return }
    let session = writing()
    let cells = CellStore(realm)
    current().withElement(first, elementType, realm) { cells.append($0) }
    current().withElement(second, elementType, realm) { cells.append($0) }
    session.attempt { () throws(StoreError) in
      try splice(session, first..<first + 1, [cells.cells[1]])
      changed()
      try splice(session, second..<second + 1, [cells.cells[0]])
    }
    changed()
    session.spillIfNeeded()
  }

  /// Takes everything out.
  func removeAll() {
    let session = writing()
    let links = links(in: 0..<count)
    session.attempt { () throws(StoreError) in
      try list.closeTree(in: session)
      try store(session, [])
      try removeLinks(session, links)
    }
    changed()
    session.spillIfNeeded()
  }

  // MARK: Parts

  private func changed() { list.access.invalidateRows() }

  private func links(in range: Range<Int>) -> [Int64] {
    guard list.access.targets[list.index] != nil else { return [] }
    let content = current()
    if range.isEmpty { return [] }
    if range.count == 1 {
      return content.withElement(range.lowerBound, elementType, realm) { $0.link }.map { [$0] }
        ?? []
    }
    var links: [Int64] = []
    content.forEach(elementType, realm) { cell, position in
      if position >= range.lowerBound, let link = cell.link { links.append(link) }
      return position + 1 < range.upperBound
    }
    return links
  }

  /// The list's own tree if it has one, open for changes.
  private func openTree(_ session: WriteSession) throws(StoreError) -> ListTreeEditor? {
    if let tree = session.list(ifOpen: list.listKey) { return tree }
    guard case .tree(let tree) = list.content(in: realm) else { return nil }
    _ = try session.editor(list.access)
    return session.openList(list.listKey, root: tree.root, type: elementType)
  }

  private func splice(
    _ session: WriteSession, _ range: Range<Int>, _ cells: [ColumnValue]
  ) throws(StoreError) {
    if let tree = try openTree(session) {
      for index in range.reversed() { try tree.remove(at: index) }
      for (offset, cell) in cells.enumerated() {
        try tree.insert(cell, at: range.lowerBound + offset)
      }
      return
    }
    guard case .small(let bytes) = list.content(in: realm) else { return }
    let old = CellStore(realm)
    bytes.withUnsafeBytes { bytes in
      for element in StoredList.elements(of: bytes, elementType) { old.append(element) }
    }
    var elements = old.cells
    elements.replaceSubrange(range, with: cells)
    if let form = StoredList.form(elements, elementType) {
      try store(session, form)
    } else {
      try outgrow(session, elements)
    }
  }

  private func store(_ session: WriteSession, _ form: [UInt8]) throws(StoreError) {
    let table = try session.editor(list.access).table
    let result = form.withUnsafeBytes { bytes in
      catching { () throws(StoreError) in
        try table.update(key: list.key, column: list.column, value: .bytes(bytes))
      }
    }
    _ = try result.get()
  }

  /// Moves the list into a tree of its own.
  private func outgrow(
    _ session: WriteSession, _ elements: [ColumnValue]
  ) throws(StoreError) {
    _ = try session.editor(list.access)
    let tree = session.openList(list.listKey, root: .empty(.position), type: elementType)
    for (index, element) in elements.enumerated() { try tree.insert(element, at: index) }
  }

  private func addLinks(_ session: WriteSession, _ links: [Int64]) throws(StoreError) {
    guard let target = list.access.targets[list.index] else { return }
    let backlinks = try session.backlinks(to: target)
    for link in links { try backlinks.add(key(of: link)) }
  }

  private func removeLinks(_ session: WriteSession, _ links: [Int64]) throws(StoreError) {
    guard let target = list.access.targets[list.index] else { return }
    let backlinks = try session.backlinks(to: target)
    for link in links { try backlinks.remove(key(of: link)) }
  }

  private func key(of link: Int64) -> BacklinkKey {
    BacklinkKey(
      target: link, table: list.access.stored.tableID, column: list.column, source: list.key)
  }
}

/// Cells with bytes of their own.
final class CellStore {
  private(set) var cells: [ColumnValue] = []
  private let writer: _RowWriter

  init(_ realm: RealmInstance) { writer = _RowWriter(realm: realm) }

  func append(_ cell: ColumnValue) { cells.append(writer.lasting(cell)) }
}
