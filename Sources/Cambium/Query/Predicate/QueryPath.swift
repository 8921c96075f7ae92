/// A path from an object, a collection's element or a subquery's variable to a value.
package struct QueryPath: Hashable, Sendable {
  /// The name after `$` when the path starts at a subquery's variable.
  package var variable: String?
  /// The steps; none means the object or element itself (`SELF`).
  package var steps: [Step]
  /// How many steps lead to each collection on the path: the typed front end knows it until its
  /// condition is finished.
  var collectionEnds: [Int] = []

  package init(variable: String? = nil, _ steps: [Step] = []) {
    self.variable = variable
    self.steps = steps
  }

  /// One step of a path.
  package enum Step: Hashable, Sendable {
    /// A property of the object reached so far.
    case property(String)
    /// An entry of a map, or of a dictionary inside of a value of any type.
    case key(String)
    /// An element of a list inside of a value of any type.
    case index(Int)
    /// Every element of a list or dictionary inside of a value of any type (`#any`).
    case anyElement
    /// An operation on the collection reached so far.
    case aggregate(Aggregate)
    /// The keys of a map.
    case allKeys
    /// The values of a map.
    case allValues
  }

  /// What can be computed from a collection.
  package enum Aggregate: String, Hashable, Sendable {
    case count = "@count"
    case minimum = "@min"
    case maximum = "@max"
    case sum = "@sum"
    case average = "@avg"
  }

  /// The aggregate on the path, if any.
  package var aggregate: Aggregate? {
    for case .aggregate(let aggregate) in steps { return aggregate }
    return nil
  }

  /// Whether the path stands for any element of a collection.
  var isAny: Bool { aggregate == nil && !collectionEnds.isEmpty }

  /// The path to the first collection whose elements the rest of it is about; nil when there is none.
  var firstCollection: QueryPath? {
    guard let end = collectionEnds.first, !isComputed(behind: end) else { return nil }
    var collection = QueryPath(variable: variable, Array(steps[..<end]))
    collection.collectionEnds = [end]
    return collection
  }

  /// Whether the path goes on from a collection's elements, and not with what is computed from them.
  func leads(into collection: QueryPath) -> Bool {
    variable == collection.variable && steps.starts(with: collection.steps)
      && !isComputed(behind: collection.steps.count)
  }

  private func isComputed(behind end: Int) -> Bool {
    if end < steps.count, case .aggregate = steps[end] { true } else { false }
  }

  /// The names joined with points, for messages; subscripts are left out.
  package var text: String {
    var parts: [String] = variable.map { ["$" + $0] } ?? []
    for step in steps {
      switch step {
      case .property(let name): parts.append(name)
      case .aggregate(let aggregate): parts.append(aggregate.rawValue)
      case .allKeys: parts.append("@allKeys")
      case .allValues: parts.append("@allValues")
      case .key, .index, .anyElement: break
      }
    }
    return parts.isEmpty ? "self" : parts.joined(separator: ".")
  }
}
