/// Putting conditions together that bound one value from both sides.
extension BoundPredicate {
  /// The same condition; a value that is bounded by several conditions that all must hold is bounded by
  /// one, which a scan tests at once and for which an index is read once.
  var joined: BoundPredicate {
    switch self {
    case .and(let parts): return Self.joined(parts)
    case .or(let parts): return .or(parts.map(\.joined))
    case .not(let part): return .not(part.joined)
    case .link(let link, let inner): return .link(link, inner.joined)
    case .any(let collection, let inner): return .any(collection, inner.joined)
    case .named(let level, let inner): return .named(level: level, inner.joined)
    case .outer(let origin, let inner): return .outer(origin, inner.joined)
    case .always, .value, .keys, .anyElement, .number, .pair, .within: return self
    }
  }

  private static func joined(_ parts: [BoundPredicate]) -> BoundPredicate {
    var all: [BoundPredicate] = []
    for part in parts {
      // Once only: each level would double the work of those below it.
      let part = part.joined
      if case .and(let inner) = part { all += inner } else { all.append(part) }
    }
    var joined: [BoundPredicate] = []
    // Where the condition on a column that later ones are joined with is.
    var places: [BoundColumn: Int] = [:]
    for part in all {
      guard case .value(let column, let condition) = part else {
        joined.append(part)
        continue
      }
      if let place = places[column], case .value(_, let other) = joined[place],
        let both = other.joined(with: condition)
      {
        joined[place] = .value(column, both)
      } else {
        places[column] = joined.count
        joined.append(part)
      }
    }
    return joined.count == 1 ? joined[0] : .and(joined)
  }
}

extension ValueCondition {
  /// The condition that holds where both do, if it is of the same kind; nil otherwise.
  func joined(with other: ValueCondition) -> ValueCondition? {
    let matchesNull = matchesNull && other.matchesNull
    switch (kind, other.kind) {
    case (.integer(.range(let left)), .integer(.range(let right))):
      let kind: Kind =
        left.overlaps(right) ? .integer(.range(left.clamped(to: right))) : .none
      return ValueCondition(kind, matchesNull: matchesNull)
    case (.floating(.range(let low, let high)), .floating(.range(let low2, let high2))):
      return ValueCondition(
        .floating(.range(max(low, low2), min(high, high2))), matchesNull: matchesNull)
    case (.wide(let left), .wide(let right)) where left.mask == right.mask:
      guard case .range(let range) = left.kind, case .range(let range2) = right.kind else {
        return nil
      }
      let kind: Kind =
        range.overlaps(range2)
        ? .wide(WideCondition(.range(range.clamped(to: range2)), isSigned: left.mask != 0)) : .none
      return ValueCondition(kind, matchesNull: matchesNull)
    case (.bytes(let left), .bytes(let right)):
      return left.joined(with: right).map { ValueCondition(.bytes($0), matchesNull: matchesNull) }
    default: return nil
    }
  }
}

extension BytesCondition {
  /// The range that two ranges have in common; nil where one is none, or folds.
  fileprivate func joined(with other: BytesCondition) -> BytesCondition? {
    guard folding == nil, other.folding == nil,
      case .range(let lower, let includesLower, let upper, let includesUpper) = kind,
      case .range(let lower2, let includesLower2, let upper2, let includesUpper2) = other.kind
    else { return nil }
    let low = Self.narrower(lower, includesLower, lower2, includesLower2) {
      $1.lexicographicallyPrecedes($0)
    }
    let high = Self.narrower(upper, includesUpper, upper2, includesUpper2) {
      $0.lexicographicallyPrecedes($1)
    }
    return BytesCondition(
      .range(
        lower: low.bound, includesLower: low.isIncluded, upper: high.bound,
        includesUpper: high.isIncluded))
  }

  /// The bound that lets less through.
  private static func narrower(
    _ left: [UInt8]?, _ includesLeft: Bool, _ right: [UInt8]?, _ includesRight: Bool,
    _ isNarrower: ([UInt8], [UInt8]) -> Bool
  ) -> (bound: [UInt8]?, isIncluded: Bool) {
    guard let left else { return (right, includesRight) }
    guard let right else { return (left, includesLeft) }
    if left == right { return (left, includesLeft && includesRight) }
    return isNarrower(left, right) ? (left, includesLeft) : (right, includesRight)
  }
}
