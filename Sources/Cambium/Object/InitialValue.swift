/// What an object is made of: a dictionary by property names, an array in order of declaration, or
/// another object.
enum InitialValue {
  case dictionary([String: Any])
  case array([Any])
  case object(ObjectBase)

  /// Stops when `value` is none of these.
  init(_ value: Any, for description: ClassDescription) {
    guard let value = flattened(value) else { fatalError("Must provide a non-nil value.") }
    if let values = value as? [String: Any] {
      self = .dictionary(values)
    } else if let source = modelObject(value) {
      self = .object(source)
    } else if let values = value as? [Any] {
      self = .array(values)
    } else {
      fatalError(
        "Invalid value '\(value)' to initialize object of type '\(description.name)': it is neither "
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
    for (index, name) in description.storedNames {
      if let value = values[name] { body(index, flattened(value)) }
    }
  }

  private func forEach(
    in values: [Any], _ description: ClassDescription, _ body: (Int, Any?) -> Void
  ) {
    let count = description.storedNames.count
    guard values.count <= count else {
      fatalError(
        "Invalid array input: more values (\(values.count)) than properties (\(count)).")
    }
    for (property, value) in zip(description.storedNames, values) {
      body(property.index, flattened(value))
    }
  }

  private func forEach(
    of source: ObjectBase, _ description: ClassDescription, _ body: (Int, Any?) -> Void
  ) {
    let sourceDescription = source.classDescription
    for (index, name) in description.storedNames {
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
