extension RealmCollection {
  /// The elements that satisfy a condition in text form, with `%@` and `%K` for arguments.
  ///
  /// Stops when the text or its names are wrong; queries are code.
  public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Element> {
    Results(queryCore().filtered(QueryPredicate.parsed(predicateFormat, args)))
  }

  /// The place of the first element that satisfies a condition in text form; nil when none does.
  public func index(matching predicateFormat: String, _ args: Any...) -> Int? {
    firstIndex(matching: QueryPredicate.parsed(predicateFormat, args))
  }

  /// The elements that satisfy a condition written in Swift.
  ///
  /// Live, like every result: it follows the Realm's version.
  public func `where`(
    _ isIncluded: (Query<Element>) -> Query<Bool>
  ) -> Results<Element> {
    Results(queryCore().filtered(isIncluded(.root).predicate))
  }

  /// The place of the first element that satisfies a condition written in Swift; nil when none does.
  public func index(
    matching isIncluded: (Query<Element>) -> Query<Bool>
  ) -> Int? where Element: _RealmSchemaDiscoverable {
    firstIndex(matching: isIncluded(.root).predicate)
  }

  private func firstIndex(matching predicate: QueryPredicate) -> Int? {
    if let elements = plainElements {
      return PlainQuery(predicate, on: Element.self).firstIndex(in: elements)
    }
    return queryCore().firstIndex(matching: predicate)
  }

  /// The elements in the order of one or several keys; what compares equal keeps its order.
  public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Element>
  where S.Element == SortDescriptor {
    Results(queryCore().sorted(Array(sortDescriptors)))
  }

  /// The elements in the order of a property or a dotted path over to-one links.
  public func sorted(
    byKeyPath keyPath: String, ascending: Bool = true
  ) -> Results<Element> where Element: KeypathSortable {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The elements in the order of a property.
  public func sorted<T: _HasPersistedType>(
    by keyPath: KeyPath<Element, T>, ascending: Bool = true
  ) -> Results<Element> where T.PersistedType: SortableType, Element: ObjectBase {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The values in order.
  public func sorted(
    ascending: Bool = true
  ) -> Results<Element> where Element.PersistedType: SortableType {
    sorted(by: [SortDescriptor(keyPath: "self", ascending: ascending)])
  }

  /// The first element of each combination of the named properties' values.
  public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element>
  where S.Element == String {
    Results(queryCore().distinct(Array(keyPaths)))
  }

  /// The first element of each combination of the properties' values.
  public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element>
  where S.Element == PartialKeyPath<Element>, Element: ObjectBase {
    distinct(by: keyPaths.map { _name(for: $0) })
  }

  /// The values without repetitions.
  public func distinct() -> Results<Element> where Element.PersistedType: SortableType {
    distinct(by: ["self"])
  }
}

extension QueryPredicate {
  /// The condition that a text says; stops when it says none.
  static func parsed(_ format: String, _ arguments: [Any]) -> QueryPredicate {
    do {
      return try PredicateParser.parse(format, arguments: arguments)
    } catch {
      error.stop()
    }
  }
}
