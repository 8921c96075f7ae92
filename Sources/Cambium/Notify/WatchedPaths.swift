import CambiumCore

/// Which changes of an object count for an observer.
enum WatchedPaths: Sendable, Hashable {
  /// Every property, and those of objects that it links to, over so many links.
  case everything(depth: Int)
  /// What these paths lead to, and nothing else; in sections also what may have changed an element's key,
  /// without making it modified.
  case paths([WatchedProperty], inSections: Bool = false)

  /// Over how many links the observer of a collection looks unless it names key paths.
  static let defaultDepth = 4

  /// Reads key paths, from objects of `start`; stops at names that are no properties.
  init(
    _ keyPaths: [String]?, from start: StoredClass, _ schema: StoredSchema, depth: Int,
    inSections: Bool = false
  ) {
    guard let keyPaths, !keyPaths.isEmpty else {
      self = .everything(depth: depth)
      return
    }
    self = .paths(
      keyPaths.map { path in
        WatchedProperty(
          path.split(separator: ".", omittingEmptySubsequences: false)[...], from: start, schema,
          path: path)
      }, inSections: inSections)
  }
}

/// One property on a key path, and what counts behind it.
struct WatchedProperty: Sendable, Hashable {
  /// The class that has the property.
  let owner: StoredClass
  /// Its place among the class's properties.
  let index: Int
  /// What follows behind the property; empty at the end of the path.
  private let behind: [WatchedProperty]
  /// For linking objects, the class that links and its property.
  let origin: (storedClass: StoredClass, column: UInt16)?
  /// The class at the other end, if the property links.
  let target: StoredClass?

  /// The next property of the path; nil at its end.
  var next: WatchedProperty? { behind.first }

  var property: Property { owner.objectSchema.allProperties[index] }

  init(
    _ names: ArraySlice<Substring>, from owner: StoredClass, _ schema: StoredSchema, path: String
  ) {
    let name = names.first.map(String.init) ?? ""
    guard let index = owner.propertyIndex(name) else {
      Self.stop(name, owner, isFirst: names.startIndex == 0, path)
    }
    self.owner = owner
    self.index = index
    let property = owner.objectSchema.allProperties[index]
    let target = property.objectClassName.flatMap { schema[$0] }
    self.target = target
    if property.isComputed, let target,
      let place = target.propertyIndex(property.originPropertyName ?? "")
    {
      origin = (target, target.columns[place])
    } else {
      origin = nil
    }
    let rest = names.dropFirst()
    guard let following = rest.first else {
      behind = []
      return
    }
    guard let target else { Self.stop(String(following), owner, isFirst: false, path) }
    behind = [WatchedProperty(rest, from: target, schema, path: path)]
  }

  static func == (left: WatchedProperty, right: WatchedProperty) -> Bool {
    left.owner == right.owner && left.index == right.index && left.behind == right.behind
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(owner)
    hasher.combine(index)
    hasher.combine(behind)
  }

  private static func stop(
    _ name: String, _ owner: StoredClass, isFirst: Bool, _ path: String
  ) -> Never {
    if isFirst {
      fatalError(
        "Invalid property name: property '\(name)' not found in object of type '\(owner.name)'")
    }
    fatalError("Property '\(name)' in KeyPath '\(path)' is not a valid property in \(owner.name).")
  }
}
