import Cambium

/// The objects of a document, one after another.
package final class ObjectStream {
  /// An object of a document.
  package struct Item {
    package var className: String
    package var members: [JSONValue.Member]
    /// The line on which it ends, for messages.
    package var line: Int
  }

  /// Where the reading is.
  private enum State {
    case start
    /// In the objects of a document of this library; in those of a class, if one is named.
    case classes(isFirst: Bool, inside: (name: String, isFirst: Bool)?)
    /// Behind the objects of such a document.
    case tail
    /// One object after another, each with its class, as this library writes them.
    case taggedLines
    case array(isFirst: Bool)
    case lines
    case records([String])
    case end
  }

  /// The classes that the document describes itself; known once an object was read.
  package private(set) var types: [ObjectSchema] = []
  /// Whether the document names the classes of its objects.
  package private(set) var namesClasses = false
  /// How many bytes were read.
  package private(set) var byteCount = 0

  private let className: String?
  private var state = State.start
  private let format: DocumentFormat
  private var json: JSONReader
  private var csv: CSVReader

  /// Reads a document; `className` is the class of objects in a document that names none.
  package init(
    _ source: DocumentSource, _ format: DocumentFormat, className: String?,
    separator: Character = ","
  ) throws {
    (self.className, self.format) = (className, format)
    let read = try source.read()
    let counter = Counter()
    let next: () throws -> [UInt8] = {
      let portion = try read()
      counter.byteCount += portion.count
      return portion
    }
    json = JSONReader(next)
    csv = CSVReader(separator: separator, next)
    self.counter = counter
  }

  private final class Counter { var byteCount = 0 }
  private let counter: Counter

  /// The next object; nil at the end.
  package func next() throws -> Item? {
    defer { byteCount = counter.byteCount }
    while true {
      switch state {
      case .start: if let item = try start() { return item }
      case .classes(let isFirst, let inside):
        if let item = try nested(isFirst, inside) { return item }
      case .tail: try skipTail()
      case .taggedLines:
        if try json.isAtEnd() { return end() }
        let value = try json.value()
        guard let name = value["class"]?.text, let members = value["object"]?.members else {
          throw json.failure("expected an object with its class, {\"class\": …, \"object\": {…}}")
        }
        return Item(className: name, members: members, line: json.line)
      case .array(var isFirst):
        guard try json.next(isFirst: &isFirst, until: "]") else {
          guard try json.isAtEnd() else { throw json.failure("there is more behind the end") }
          return end()
        }
        state = .array(isFirst: isFirst)
        return try plain(try json.value())
      case .lines:
        if try json.isAtEnd() { return end() }
        return try plain(try json.value())
      case .records(let names): return try record(names)
      case .end: return nil
      }
    }
  }

  private func end() -> Item? {
    state = .end
    return nil
  }

  // MARK: JSON

  private func start() throws -> Item? {
    if format == .csv {
      guard let heading = try csv.record() else { return end() }
      var names: [String] = []
      for field in heading {
        guard !field.text.isEmpty, !names.contains(field.text) else {
          throw csv.failure("the heading has a name twice or an empty one: '\(field.text)'")
        }
        names.append(field.text)
      }
      state = .records(names)
      return nil
    }
    switch try json.start() {
    case nil: return end()
    case UInt8(ascii: "["):
      try json.enter("[")
      state = .array(isFirst: true)
      return nil
    default: break
    }
    try json.enter("{")
    var isFirst = true
    var members: [JSONValue.Member] = []
    while try json.next(isFirst: &isFirst, until: "}") {
      let name = try json.name()
      if members.isEmpty, name == "cambium" {
        try begin()
        return nil
      }
      members.append(JSONValue.Member(name, try json.value()))
    }
    state = .lines
    return try plain(.object(members))
  }

  /// Reads what stands before the objects of a document of this library.
  private func begin() throws {
    namesClasses = true
    guard case .integer(let form) = try json.value(), form == 1 else {
      throw json.failure(
        "the document has a form that this version does not know; take a newer one")
    }
    var isFirst = false
    while try json.next(isFirst: &isFirst, until: "}") {
      switch try json.name() {
      case "classes":
        guard let elements = try json.value().elements else {
          throw json.failure("expected an array of classes")
        }
        for element in elements {
          let type = try ClassDocument.type(element)
          guard !types.contains(where: { $0.className == type.className }) else {
            throw json.failure("the class '\(type.className)' is described twice")
          }
          types.append(type)
        }
      case "objects":
        try json.enter("{")
        state = .classes(isFirst: true, inside: nil)
        return
      default: _ = try json.value()
      }
    }
    state = .taggedLines
  }

  private func nested(_ isFirst: Bool, _ inside: (name: String, isFirst: Bool)?) throws -> Item? {
    var isFirst = isFirst
    if var inside {
      if try json.next(isFirst: &inside.isFirst, until: "]") {
        state = .classes(isFirst: isFirst, inside: inside)
        guard let members = try json.value().members else {
          throw json.failure("expected an object")
        }
        return Item(className: inside.name, members: members, line: json.line)
      }
      state = .classes(isFirst: isFirst, inside: nil)
      return nil
    }
    guard try json.next(isFirst: &isFirst, until: "}") else {
      state = .tail
      return nil
    }
    let name = try json.name()
    try json.enter("[")
    state = .classes(isFirst: isFirst, inside: (name, true))
    return nil
  }

  private func skipTail() throws {
    var isFirst = false
    while try json.next(isFirst: &isFirst, until: "}") {
      _ = try json.name()
      _ = try json.value()
    }
    guard try json.isAtEnd() else { throw json.failure("there is more behind the end") }
    state = .end
  }

  private func plain(_ value: JSONValue) throws -> Item {
    guard let members = value.members else { throw json.failure("expected an object") }
    return Item(className: try required(), members: members, line: json.line)
  }

  private func required() throws(TransferError) -> String {
    guard let className else {
      throw TransferError("The document does not say of which class its objects are; name it.")
    }
    return className
  }

  // MARK: CSV

  private func record(_ names: [String]) throws -> Item? {
    let line = csv.line
    guard let fields = try csv.record(fieldCount: names.count) else { return end() }
    guard fields.count == names.count else {
      throw TransferError(
        "Line \(line): \(fields.count) fields where the heading has \(names.count).")
    }
    let members = zip(names, fields).map { name, field in
      // Nothing between two commas is null, a pair of quotes an empty text.
      JSONValue.Member(
        name, field.text.isEmpty && !field.isQuoted ? .null : .string(field.text))
    }
    return Item(className: try required(), members: members, line: line)
  }
}
