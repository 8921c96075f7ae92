import CambiumCore

/// A condition whose names are looked up and whose constants are converted: all that is needed to
/// find objects in any version of a Realm with the same schema.
package indirect enum BoundPredicate: Sendable, Hashable {
  /// True or false for every object.
  case always(Bool)
  case and([BoundPredicate])
  case or([BoundPredicate])
  case not(BoundPredicate)
  /// A condition on the value of a column.
  case value(BoundColumn, ValueCondition)
  /// The object is one of these.
  case keys(IntegerSet)
  /// A condition on the object that a to-one link leads to.
  case link(BoundLink, BoundPredicate)
  /// At least one object of a collection satisfies a condition.
  case any(BoundCollection, BoundPredicate)
  /// At least one value of a list satisfies a condition.
  case anyElement(BoundColumn, ValueCondition)
  /// A condition on what is computed from a collection.
  case number(BoundNumber, ValueCondition)
  /// Two values are compared.
  case pair(BoundPair)
  /// The object is a place in a region.
  case within(BoundPlace, _GeoRegion)
  /// A condition with subqueries that name the object.
  case named(level: Int, BoundPredicate)
  /// A condition on an object that a subquery names.
  case outer(BoundOrigin, BoundPredicate)

  /// Whether the condition holds where a link on the way to the object is null: then all values are
  /// null and all collections empty.
  var matchesMissing: Bool {
    switch self {
    case .always(let result): result
    case .and(let parts): parts.allSatisfy(\.matchesMissing)
    case .or(let parts): parts.contains(where: \.matchesMissing)
    case .not(let part): !part.matchesMissing
    case .value(_, let condition): condition.matchesNull
    case .anyElement(let column, let condition): column.isEntry && condition.matchesNull
    case .keys, .any, .within: false
    case .link(_, let inner): inner.matchesMissing
    case .number(let number, let condition): condition.matches(number.valueOfEmpty)
    case .pair(let pair): pair.matchesMissing
    case .named(_, let inner), .outer(_, let inner): inner.matchesMissing
    }
  }
}

/// What says where an object is: a text that says that it is a point, and its longitude and latitude.
package struct BoundPlace: Sendable, Hashable {
  var type: BoundColumn
  var coordinates: BoundColumn

  /// Whether a region has a point with these values.
  func isWithin(_ region: _GeoRegion, _ type: String, _ coordinates: [Double]) -> Bool {
    type.lowercased() == "point" && coordinates.count >= 2
      && region.contains(longitude: coordinates[0], latitude: coordinates[1])
  }
}

/// An object around a subquery, which names it.
package struct BoundOrigin: Sendable, Hashable {
  /// How many subqueries are around the one that has the object as its element.
  package var level: Int
  package var storedClass: StoredClass
}

/// A column with a scalar value, a to-one link or a list of scalars.
package struct BoundColumn: Sendable, Hashable {
  /// The column's number.
  package var id: UInt16
  /// What it holds; for a list, what its elements are.
  package var type: ColumnType
  /// What the property is.
  package var property: PropertyType
  package var isNullable: Bool
  /// The name of the tree that finds objects by this value, in versions where the column has one.
  package var index: String
  /// Whether the column is the object's key.
  package var isKey = false
  /// What of a map is meant.
  package var part = Part.elements
  /// What inside of a value of any type is meant: keys, indices, or every element.
  package var inside: [QueryPath.Step] = []
  /// Whether the column holds one value, inside of which something is meant, and no collection.
  package var isSingleValue = false
  /// For links, where the objects that link to another are found.
  package var backlinks: BoundBacklinks?

  /// What is read of a collection.
  package enum Part: Sendable, Hashable {
    /// The elements, of a map the values.
    case elements
    /// The keys of a map.
    case keys
    /// The value of one key of a map: null when there is none.
    case entry(String)
  }

  /// Whether it stands for one value of a map, or for what is inside of a value.
  var isEntry: Bool {
    if isSingleValue { return true }
    return if case .entry = part { true } else { false }
  }

  /// What a row has that stores nothing.
  var defaultValue: ColumnValue {
    ColumnSpec(id: id, type: type, isNullable: isNullable).defaultValue
  }
}

/// The tree of the links that lead to a class's objects, and the part of it that one property has.
package struct BoundBacklinks: Sendable, Hashable {
  package var tree: String
  package var table: UInt32
}

/// A to-one link.
package struct BoundLink: Sendable, Hashable {
  package var column: BoundColumn
  package var source: StoredClass
  package var target: StoredClass
}

/// A collection of objects.
package enum BoundCollection: Sendable, Hashable {
  /// A list of links in a column.
  case list(BoundColumn, source: StoredClass, target: StoredClass)
  /// The objects of another class whose to-one link or list leads here.
  case backlinks(origin: StoredClass, column: BoundColumn, isList: Bool, target: StoredClass)

  /// The class of the elements.
  var elementClass: StoredClass {
    switch self {
    case .list(_, _, let target): target
    case .backlinks(let origin, _, _, _): origin
    }
  }
}

extension BoundCollection {
  /// Whether it stands for one value of a map.
  var isEntry: Bool { if case .list(let column, _, _) = self { column.isEntry } else { false } }

  /// At least one object satisfies a condition; for one value of a map, the object, or null does.
  func any(_ condition: BoundPredicate) -> BoundPredicate {
    guard case .list(let column, _, _) = self, column.isEntry, condition.matchesMissing else {
      return .any(self, condition)
    }
    return .or([
      .any(self, condition), .anyElement(column, ValueCondition(.none, matchesNull: true)),
    ])
  }
}

/// Something computed from a collection.
package struct BoundNumber: Sendable, Hashable {
  package enum Source: Sendable, Hashable {
    /// Objects, of which `column` is taken (nil only when they are counted), and of which only those
    /// count that satisfy the filter.
    case objects(BoundCollection, BoundColumn?, filter: BoundPredicate?)
    /// The values of a list of scalars.
    case elements(BoundColumn)
  }

  package var aggregate: QueryPath.Aggregate
  package var source: Source

  /// The property whose values are computed with; nil when elements are counted.
  var column: BoundColumn? {
    switch source {
    case .objects(_, let column, _): column
    case .elements(let column): column
    }
  }

  /// The type of the number: the sum and the average of values of any type are decimal numbers.
  var resultType: PropertyType {
    let type = column?.property ?? .int
    switch (aggregate, type) {
    case (.count, _): return .int
    case (.minimum, _), (.maximum, _): return type
    case (_, .any), (_, .decimal128): return .decimal128
    case (.average, _), (.sum, .float): return .double
    case (.sum, _): return type
    }
  }

  /// What an empty collection gives.
  var valueOfEmpty: ColumnValue {
    switch aggregate {
    case .count: return .int(0)
    case .minimum, .maximum, .average: return .null
    case .sum:
      switch column?.property {
      case .float, .double: return .double(0)
      case .decimal128, .any:
        let zero = DecimalBits.zero
        return .wide(low: zero.low, high: zero.high)
      default: return .int(0)
      }
    }
  }
}

/// A value to be compared with another of the same object, or of one around the subquery.
package indirect enum BoundSource: Sendable, Hashable {
  case column(BoundColumn)
  case number(BoundNumber)
  case key
  case link(BoundLink, BoundSource)
  /// One value for each element; at least one must satisfy the comparison.
  case any(BoundCollection, BoundSource)
  case anyElement(BoundColumn)
  /// The values of an object that a subquery names.
  case outer(BoundOrigin, BoundSource)

  /// Whether it has any number of values rather than one.
  var isMultiple: Bool {
    switch self {
    case .any: true
    case .anyElement(let column): !column.isEntry
    case .link(_, let inner), .outer(_, let inner): inner.isMultiple
    case .column, .number, .key: false
    }
  }

  /// The value behind a link that is null.
  var valueOfMissing: ColumnValue {
    switch self {
    case .number(let number): number.valueOfEmpty
    case .link(_, let inner), .outer(_, let inner): inner.valueOfMissing
    case .column, .key, .any, .anyElement: .null
    }
  }
}

/// Two values and the operator between them.
package struct BoundPair: Sendable, Hashable {
  package var left: BoundSource
  package var right: BoundSource
  package var comparison: ValueComparison

  /// Whether the pair holds when both sides are null or empty.
  var matchesMissing: Bool {
    guard !left.isMultiple, !right.isMultiple else { return false }
    return comparison.holds(left.valueOfMissing, right.valueOfMissing)
  }
}
