import CambiumCore

extension ManagedCollection {
  var count: Int { withElements { $0.count } }

  /// The element at `position`; stops out of bounds.
  func element<Element: RealmCollectionValue>(_ position: Int) -> Element {
    withElements { elements throws(StoreError) in
      checkIndex(position, below: elements.count)
      return try elements.withElement(at: position) { element(in: $0, at: position) }
    }
  }

  /// Walks objects, and makes the accessor of each when it comes; nil for other elements.
  func walk<Element: RealmCollectionValue>(of type: Element.Type) -> ObjectWalk? {
    guard let target = place.target, !Element._rlmIsProjection else { return nil }
    let layout =
      Element.self == DynamicObject.self
      ? target.layout.dynamicLayout : target.layout(for: Element.self)
    return layout.isElement(Element.self) ? ObjectWalk(target, layout, links()) : nil
  }

  /// The element that a cell of the collection, at `position` if that is known, stands for.
  func element<Element: RealmCollectionValue>(
    in cell: ColumnValue, at position: Int? = nil
  ) -> Element {
    if Element.self == AnyRealmValue.self {
      let value = AnyRealmValue(StoredAny(cell), realm) {
        ManagedCollection(self, inside: $0, at: position)
      }
      if let value = value as? Element { return value }
    }
    // Dynamic objects are of one type for all classes: the property says which it is.
    guard Element.self == DynamicObject.self || Element.self == DynamicObject?.self else {
      return Element._rlmElement(in: cell, Realm(realm))
    }
    if case .null = cell { return Element._rlmDefaultValue() }
    guard let key = cell.link, let target = place.target,
      let object = target.object(forKey: key, as: target.layout.dynamicLayout) as? Element
    else {
      fatalError("Accessing an object which has been invalidated or deleted")
    }
    return object
  }

  func elements<Element: RealmCollectionValue>() -> [Element] {
    withElements { stored throws(StoreError) in
      var elements: [Element] = []
      // The count is a claim of the root until the leaves were read.
      elements.reserveCapacity(min(stored.count, 1 << 16))
      try stored.forEach { cell, position in
        elements.append(element(in: cell, at: position))
        return true
      }
      return elements
    }
  }

  /// The objects to which the elements link.
  func links() -> [Int64] {
    withElements { elements throws(StoreError) in try elements.links() }
  }

  /// The place of the first element with the value of `cell`.
  func firstIndex(of cell: ColumnValue) -> Int? {
    let order = CellOrder(place.shape.type)
    return withElements { elements throws(StoreError) in
      if case .int(let integer) = cell {
        return try elements.positions(of: [integer], count: 1).first
      }
      var found: Int?
      try elements.forEach { element, position in
        if order.areEqual(element, cell) { found = position }
        return found == nil
      }
      return found
    }
  }
}

/// Stops unless `index` is from 0 to below `count`.
func checkIndex(_ index: Int, below count: Int, _ name: String = "index") {
  if index < 0 { fatalError("Cannot pass a negative value for '\(name)'.") }
  if index >= count { fatalError("Index \(index) is out of bounds (must be less than \(count)).") }
}
