import CambiumRealmFile

/// Reads all of a file, damaged or not, and checks that what it tells fits the schema that it tells.
enum ContentCheck {
  /// What does not fit, in words.
  struct Misfit: Error {
    var what: String
  }

  /// Opens and reads a file; the error that it gives, nil for none.
  ///
  /// Throws ``Misfit`` when values do not fit, and anything that is not an error of the reader.
  static func read(_ path: String, key: [UInt8]? = nil) throws -> RealmFileError? {
    do {
      let file = try RealmFile(path: path, encryptionKey: key)
      for index in file.classes.indices { try read(file, index) }
      return nil
    } catch let error as RealmFileError {
      return error
    }
  }

  private static func read(_ file: RealmFile, _ index: Int) throws {
    let described = file.classes[index]
    try require(
      described.primaryKey.map(described.properties.indices.contains) ?? true, "primary key")
    for property in described.properties {
      try require(property.target.map(file.classes.indices.contains) ?? true, "target")
    }
    var last: Int64 = -1
    var count = 0
    var failure: RealmFileError?
    try file.forEachLeaf(of: index) { leaf in
      try require(1...256 ~= leaf.keys.count, "objects of a leaf")
      for key in leaf.keys {
        try require(key > last, "order of keys")
        last = key
      }
      count += leaf.keys.count
      for (propertyIndex, property) in described.properties.enumerated() {
        do {
          let values = try leaf.values(of: propertyIndex)
          try require(values.count == leaf.keys.count, "count of values")
          for value in values { try check(value, property, file) }
        } catch let error as RealmFileError {
          // Damage in one column does not keep the others from being read.
          failure = failure ?? error
        }
      }
      guard let first = leaf.keys.first else { return }
      _ = try file.contains(first, in: index)
    }
    try require(count == described.objectCount, "count of objects")
    _ = try file.contains(last / 2, in: index)
    _ = try file.contains(last &+ 1, in: index)
    if let failure { throw failure }
  }

  private static func check(
    _ value: RealmFileValue, _ property: RealmFileProperty, _ file: RealmFile
  ) throws {
    switch (property.collection, value) {
    case (.none, _):
      try checkElement(value, property, isOptional: property.isOptional, file)
    case (.list, .list(let values)), (.set, .list(let values)):
      for value in values {
        try checkElement(value, property, isOptional: property.isOptional, file)
      }
    case (.dictionary, .dictionary(let entries)):
      for entry in entries {
        switch (entry.key, property.hasIntegerKeys) {
        case (.int, true), (.string, false): break
        default: throw Misfit(what: "key of \(property.name)")
        }
        try checkElement(entry.value, property, isOptional: property.isOptional, file)
      }
    default: throw Misfit(what: "collection \(property.name)")
    }
  }

  private static func checkElement(
    _ value: RealmFileValue, _ property: RealmFileProperty, isOptional: Bool, _ file: RealmFile
  ) throws {
    switch (value, property.type) {
    case (.null, .mixed), (.null, .link): break
    case (.null, _): try require(isOptional, "null in \(property.name)")
    case (.link(let target, let key), .link):
      try require(target == property.target && key >= 0, "link in \(property.name)")
    case (_, .mixed): try checkMixed(value, file, depth: 0)
    case (.date(_, let nanoseconds), .date):
      try require(abs(nanoseconds) < 1_000_000_000, "date in \(property.name)")
    case (.objectId(let bytes), .objectId): try require(bytes.count == 12, "object id")
    case (.uuid(let bytes), .uuid): try require(bytes.count == 16, "UUID")
    case (.int, .int), (.bool, .bool), (.float, .float), (.double, .double), (.string, .string),
      (.data, .data), (.decimal, .decimal128):
      break
    default: throw Misfit(what: "type in \(property.name)")
    }
  }

  private static func checkMixed(
    _ value: RealmFileValue, _ file: RealmFile, depth: Int
  ) throws {
    try require(depth <= 100, "depth")
    switch value {
    case .link(let target, let key):
      try require(file.classes.indices.contains(target) && key >= 0, "link in a mixed value")
    case .list(let values):
      for value in values { try checkMixed(value, file, depth: depth + 1) }
    case .dictionary(let entries):
      for entry in entries { try checkMixed(entry.value, file, depth: depth + 1) }
    default: break
    }
  }

  private static func require(_ condition: Bool, _ what: String) throws {
    guard condition else { throw Misfit(what: what) }
  }
}
