import CambiumCore

/// Conditions on places on the Earth.
extension QueryBinder {
  /// The condition that what a path leads to is a place in a region.
  ///
  /// A place is an embedded object with the text `type`, which says `Point`, and the list of numbers
  /// `coordinates`: longitude and latitude.
  func bindRegion(
    _ region: any RLMGeospatial, _ bound: BoundPath, _ comparison: QueryComparison
  ) throws(QueryError) -> BoundPredicate {
    let (target, hop) = try placeClass(bound)
    guard target.isEmbedded else {
      throw QueryError(
        "A GEOWITHIN query can only operate on a link to an embedded class but '\(target.name)' is at "
          + "the top level")
    }
    let properties = target.objectSchema.allProperties
    guard let type = properties.firstIndex(where: { $0.name == "type" }),
      properties[type].type == .string, !properties[type].isCollection,
      let coordinates = properties.firstIndex(where: { $0.name == "coordinates" }),
      properties[coordinates].type == .double, properties[coordinates].isArray,
      !properties[coordinates].isOptional
    else {
      throw QueryError(
        "Query '\(PredicatePrinter.text(of: .comparison(comparison)).0)' links to data in the wrong "
          + "format for a geoWithin query")
    }
    let place = BoundPlace(
      type: target.boundColumn(type), coordinates: target.boundColumn(coordinates))
    let condition = BoundPredicate.within(place, try bindShape(region))
    try checkQuantifier(comparison, bound)
    var path = bound
    if let hop { path.hops.append(hop) }
    return path.wrapped(condition)
  }

  /// The class at the end of a path, and the step to it unless the path has taken that.
  private func placeClass(
    _ bound: BoundPath
  ) throws(QueryError) -> (StoredClass, BoundPath.Hop?) {
    switch bound.end {
    case .link(let link): return (link.target, .link(link))
    case .values(let column, let source, let target):
      return (target, .collection(.list(column, source: source, target: target)))
    case .object(let target): return (target, nil)
    case .value, .elements, .number:
      throw QueryError("A GEOWITHIN query can only operate on a link to an embedded class")
    }
  }

  private func bindShape(_ region: any RLMGeospatial) throws(QueryError) -> _GeoRegion {
    do {
      return try region._rlmRegion()
    } catch {
      throw QueryError("Invalid region in GEOWITHIN query for parameter '\(region)': \(error)")
    }
  }
}
