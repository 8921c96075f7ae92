extension RealmCollection {
  /// The elements that satisfy a condition written in Swift.
  ///
  /// Live, like every result: it follows the Realm's version.
  public func `where`(
    _ isIncluded: (Query<Element>) -> Query<Bool>
  ) -> Results<Element> where Element: ObjectBase {
    Results(queryCore().filtered(isIncluded(.root).predicate))
  }

  /// The place of the first element that satisfies a condition written in Swift; nil when none does.
  public func index(
    matching isIncluded: (Query<Element>) -> Query<Bool>
  ) -> Int? where Element: ObjectBase {
    queryCore().firstIndex(matching: isIncluded(.root).predicate)
  }
}
