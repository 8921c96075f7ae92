/// What an object is made of: a dictionary by property names, an array in order of declaration, or
/// another object.
enum InitialValue {
  case dictionary([String: Any])
  case array([Any])
  case object(ObjectBase)

  /// Stops when `value` is none of these.
  init(_ value: Any, for description: ClassDescription) {
    switch flattened(value) {
    case nil: fatalError("Must provide a non-nil value.")
    case let values as [String: Any]: self = .dictionary(values)
    case let source as ObjectBase: self = .object(source)
    case let values as [Any]: self = .array(values)
    case let other?:
      fatalError(
        "Invalid value '\(other)' to initialize object of type '\(description.name)': it is neither "
          + "a dictionary, an array nor an object")
    }
  }

  /// Calls `body` with each property of the class that a value is given for, and that value.
  func forEachProperty(of description: ClassDescription, _ body: (Int, Any?) -> Void) {
    switch self {
    case .dictionary(let values): forEach(in: values, description, body)
    case .array(let values): forEach(in: values, description, body)
    case .object(let source): forEach(of: source, description, body)
    }
  }

  private func forEach(
    in values: [String: Any], _ description: ClassDescription, _ body: (Int, Any?) -> Void
  ) {
    for index in description.storedIndices {
      if let value = values[description.properties[index].property.name] {
        body(index, flattened(value))
      }
    }
  }

  private func forEach(
    in values: [Any], _ description: ClassDescription, _ body: (Int, Any?) -> Void
  ) {
    let count = description.storedIndices.count
    guard values.count <= count else {
      fatalError(
        "Invalid array input: more values (\(values.count)) than properties (\(count)).")
    }
    for (index, value) in zip(description.storedIndices, values) { body(index, flattened(value)) }
  }

  private func forEach(
    of source: ObjectBase, _ description: ClassDescription, _ body: (Int, Any?) -> Void
  ) {
    let sourceDescription = source.classDescription
    for index in description.storedIndices {
      let name = description.properties[index].property.name
      guard let sourceIndex = sourceDescription.propertyIndex(name) else {
        fatalError(
          "Invalid value '\(source)' to initialize object of type '\(description.name)': missing "
            + "key '\(name)'")
      }
      body(index, source.value(at: sourceIndex))
    }
  }
}

extension ClassDescription {
  /// The places of the properties that have a column.
  fileprivate var storedIndices: some Collection<Int> {
    properties.indices.lazy.filter { !self.properties[$0].property.isComputed }
  }

  /// Stops at a value of a wrong type for a property.
  func stopAtInvalidValue(_ value: Any?, _ index: Int) -> Never {
    let property = properties[index].property
    let text = value.map { "\($0)" } ?? "<null>"
    let type = value.map { "\(Swift.type(of: $0))" } ?? "(null)"
    fatalError(
      "Invalid value '\(text)' of type '\(type)' for '\(property.typeText)' property "
        + "'\(name).\(property.name)'.")
  }
}
