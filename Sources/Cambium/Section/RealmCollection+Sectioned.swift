extension RealmCollection {
  /// The elements in the order of `sortDescriptors`, in sections of those with equal keys, which `keyBlock`
  /// computes.
  ///
  /// The block is called whenever sections are computed anew, in the collection's context, and must give
  /// the same key for the same element.
  public func sectioned<Key: _Persistable>(
    sortDescriptors: [SortDescriptor], _ keyBlock: @escaping ((Element) -> Key)
  ) -> SectionedResults<Key, Element> {
    guard !sortDescriptors.isEmpty else {
      fatalError("There must be at least one SortDescriptor when using SectionedResults.")
    }
    return SectionedResults(_rlmResults().sorted(by: sortDescriptors), keyBlock)
  }

  /// The elements in the order of `sortDescriptors`, in sections of those with equal keys.
  public func sectioned<Key: _Persistable>(
    by block: @escaping ((Element) -> Key), sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    sectioned(sortDescriptors: sortDescriptors, block)
  }

  /// The values in order, in sections of those with equal keys.
  public func sectioned<Key: _Persistable>(
    by block: @escaping ((Element) -> Key), ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    sectioned(sortDescriptors: [SortDescriptor(keyPath: "self", ascending: ascending)], block)
  }
}

extension RealmCollection {
  /// The projections in the order of a property, in sections of those that have the same value.
  public func sectioned<Key: _Persistable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> where Element: ProjectionObservable {
    sectioned(
      sortDescriptors: [SortDescriptor(keyPath: _name(for: keyPath), ascending: ascending)]
    ) { $0[keyPath: keyPath] }
  }

  /// The projections in the order of `sortDescriptors`, in sections of those that have the same value of a
  /// property, which the first descriptor must name as the object's class does.
  public func sectioned<Key: _Persistable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> where Element: ProjectionObservable {
    sectioned(sortDescriptors, first: _name(for: keyPath)) { $0[keyPath: keyPath] }
  }

  /// The elements in the order of `sortDescriptors`, in sections; stops unless the first descriptor is for
  /// the property `first`.
  private func sectioned<Key: _Persistable>(
    _ sortDescriptors: [SortDescriptor], first: String, _ key: @escaping (Element) -> Key
  ) -> SectionedResults<Key, Element> {
    guard let primary = sortDescriptors.first else {
      fatalError("Can not section Results with empty sortDescriptor parameter.")
    }
    guard primary.keyPath == first else {
      fatalError("The section key path must match the primary sort descriptor.")
    }
    return sectioned(sortDescriptors: sortDescriptors, key)
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The elements in the order of a property, in sections of those that have the same value.
  public func sectioned<Key: _Persistable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    sectioned(
      sortDescriptors: [SortDescriptor(keyPath: _name(for: keyPath), ascending: ascending)]
    ) { $0[keyPath: keyPath] }
  }

  /// The elements in the order of `sortDescriptors`, in sections of those that have the same value of a
  /// property, which the first descriptor must name.
  public func sectioned<Key: _Persistable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    sectioned(sortDescriptors, first: _name(for: keyPath)) { $0[keyPath: keyPath] }
  }
}
