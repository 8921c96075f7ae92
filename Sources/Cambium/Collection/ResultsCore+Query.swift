import CambiumCore

extension ResultsCore {
  /// The same with one more condition.
  func filtered(_ predicate: QueryPredicate) -> ResultsCore {
    verify()
    guard let access, let plan else {
      fatalError("Querying is currently only implemented for arrays of Realm Objects")
    }
    return with(
      plan: plan.filtered(
        bound { binder throws(QueryError) in
          try binder.bind(predicate, to: access.stored)
        }))
  }

  /// The place of the first object that satisfies a condition.
  func firstIndex(matching predicate: QueryPredicate) -> Int? {
    verify()
    guard let access else {
      fatalError("Querying is currently only implemented for arrays of Realm Objects")
    }
    let condition = bound { binder throws(QueryError) in
      try binder.bind(predicate, to: access.stored)
    }
    let keys = currentKeys()
    unsafe realm.session?.settle()
    let plan = QueryPlan(access.stored).filtered(condition)
    return realm.evaluating(or: nil) { interruption throws(StoreError) in
      // The first one may be near: ever more are asked about at a time.
      var (start, count) = (0, 64)
      while start < keys.count {
        let some = Array(keys[start..<min(start + count, keys.count)])
        let matches = try plan.matches(some, in: realm.view, interruption)
        if let found = matches.firstIndex(of: true) { return start + found }
        start += count
        count *= 8
      }
      return nil
    }
  }

  /// The same, sorted.
  func sorted(_ descriptors: [SortDescriptor]) -> ResultsCore {
    verify()
    if descriptors.isEmpty { return self }
    guard let access, let plan else {
      var result = self
      for descriptor in descriptors.reversed() {
        guard descriptor.keyPath == "self" else { stopAtScalarPath("sort", descriptor.keyPath) }
        result = result.arranged(.sort(isAscending: descriptor.ascending))
      }
      return result
    }
    return with(
      plan: plan.arranged(
        bound { binder throws(QueryError) in
          try binder.bindSort(
            descriptors.map { (path: $0.keyPath, isAscending: $0.ascending) }, to: access.stored)
        }))
  }

  /// The same without what repeats.
  func distinct(_ paths: [String]) -> ResultsCore {
    verify()
    if paths.isEmpty { return self }
    guard let access, let plan else {
      for path in paths where path != "self" { stopAtScalarPath("distinct", path) }
      return arranged(.distinct)
    }
    return with(
      plan: plan.arranged(
        bound { binder throws(QueryError) in
          try binder.bindDistinct(paths, to: access.stored)
        }))
  }

  private func stopAtScalarPath(_ action: String, _ path: String) -> Never {
    fatalError(
      "Cannot \(action) on key path '\(path)': arrays of '\(elementProperty.typeText)' can only be "
        + "\(action == "sort" ? "sorted" : "made distinct") on 'self'")
  }

  /// What a collection of values holds.
  var elementProperty: Property {
    guard case .collection(let collection) = source else {
      return Property(name: "self", type: .int)
    }
    var property = collection.place.property
    property.isArray = false
    property.isSet = false
    property.isMap = false
    return property
  }

  private func bound<Value>(
    _ body: (QueryBinder) throws(QueryError) -> Value
  ) -> Value {
    let realm = realm
    let binder = QueryBinder(schema: realm.stored) { object throws(QueryError) in
      guard let object = object as? ObjectBase else { return nil }
      guard object.isManaged, unsafe object.instance === realm || object.instance == nil else {
        throw QueryError("Object must be from the Realm being queried")
      }
      guard unsafe object.instance != nil, !object.isGone else {
        return QueryObject(className: object.objectSchema.className, key: nil)
      }
      let stored = object.classAccess.stored
      return unsafe QueryObject(className: stored.name, key: object.key, table: stored.tableID)
    }
    do { return try body(binder) } catch { error.stop() }
  }
}
