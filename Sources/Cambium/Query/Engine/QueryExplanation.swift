import CambiumCore

/// How a query finds and arranges its objects: for who wants to know why it takes long, and whether an index
/// is used.
public struct QueryExplanation: Sendable, Hashable {
  /// A way to the objects.
  public enum Access: Sendable, Hashable {
    /// All of the class's objects are wanted.
    case all
    /// Indexes, links or primary keys tell at most that many objects, which are then tested one by one.
    case index([String], atMost: Int)
    /// The condition's properties of all objects are read, leaf by leaf.
    case scan
  }

  /// The class of the objects.
  public let className: String
  /// How many objects the class has.
  public let objectCount: Int
  /// How the objects that satisfy the condition are found.
  public let access: Access
  /// What is done with them then, in order.
  public let steps: [String]
}

extension QueryExplanation: CustomStringConvertible {
  /// A line for each step.
  public var description: String {
    var lines: [String]
    switch access {
    case .all: lines = ["all \(objectCount) objects of \(className)"]
    case .scan: lines = ["a scan of \(objectCount) objects of \(className)"]
    case .index([], _): lines = ["no object of \(className) can satisfy the condition"]
    case .index(let names, let count):
      lines = [
        "\(names.joined(separator: ", ")): at most \(count) of \(objectCount) objects of \(className), "
          + "each tested"
      ]
    }
    return (lines + steps).joined(separator: "\n")
  }
}

extension QueryPlan.Step {
  /// What the step does, for people.
  func text(from start: StoredClass) -> String {
    switch self {
    case .sort(let keys):
      "sorted by "
        + keys.map { "\($0.path(from: start)) \($0.isAscending ? "ASC" : "DESC")" }
        .joined(separator: ", ")
    case .distinct(let keys):
      "the first of each "
        + keys.map { $0.path(from: start) }.joined(separator: ", ")
    }
  }
}

extension SortKey {
  /// The key path, as it was written.
  fileprivate func path(from start: StoredClass) -> String {
    var place = start
    var names: [String] = []
    for link in links {
      names.append(place.name(of: link.column))
      place = link.target
    }
    var name = place.name(of: column)
    if case .entry(let key) = column.part { name += "['\(key)']" }
    return (names + [name]).joined(separator: ".")
  }
}

extension StoredClass {
  fileprivate func name(of column: BoundColumn) -> String {
    let index = column.isKey ? primaryKeyIndex : columns.firstIndex(of: column.id)
    return index.map { objectSchema.allProperties[$0].name } ?? "column \(column.id)"
  }
}

extension Results {
  /// How the objects would be found and arranged if they were asked for now.
  ///
  /// What comes from a list, or from links to an object, tells how its condition would be evaluated for all
  /// objects of the class.
  ///
  /// Must be called in the Realm's context. Nil for results of values.
  public func explanation() -> QueryExplanation? { core.explanation() }
}

extension ResultsCore {
  fileprivate func explanation() -> QueryExplanation? {
    verify()
    guard let plan else { return nil }
    unsafe realm.session?.settle()
    return realm.reading { () throws(StoreError) in
      try plan.explanation(in: realm.view, realm.stored)
    }
  }
}
