/// Which rows of which query a page wants.
struct RowsRequest {
  /// What is looked for.
  struct Query: Hashable {
    var className: String
    var text: String
    /// The property by which the rows are sorted at last.
    var sort: String?
    var isDescending: Bool
  }

  let query: Query
  let bounds: Range<Int>
  /// The session that this goes on with, and one that is done with.
  let session, ended: String?

  /// No query may be longer, in bytes.
  private static let queryLimit = 8 << 10

  init(_ parameters: [String: String], rowLimit: Int) throws(WebRefusal) {
    guard let className = parameters["class"] else {
      throw WebRefusal(400, "'class' is missing.")
    }
    let text = parameters["query"] ?? ""
    guard text.utf8.count <= Self.queryLimit else {
      throw WebRefusal(413, "A query may have \(Self.queryLimit) bytes at most.")
    }
    query = Query(
      className: className, text: text, sort: parameters["sort"].flatMap { $0.isEmpty ? nil : $0 },
      isDescending: parameters["descending"] == "1")
    let from = try WebParameter.count(parameters, "from", 0)
    let count = try WebParameter.count(parameters, "count", 100)
    bounds = from..<(from + min(count, rowLimit))
    (session, ended) = (parameters["session"], parameters["ends"])
  }
}

/// Parameters that are numbers.
enum WebParameter {
  /// The number of that name, 0 and above; `other` where there is none.
  static func count(
    _ parameters: [String: String], _ name: String, _ other: Int
  ) throws(WebRefusal) -> Int {
    guard let text = parameters[name] else { return other }
    guard let value = Int(text), (0...(1 << 48)).contains(value) else {
      throw WebRefusal(400, "'\(name)' takes a number, 0 or above.")
    }
    return value
  }

  /// The number of a row.
  static func row(_ text: String?) throws(WebRefusal) -> Int64 {
    guard let value = text.flatMap({ Int64($0) }) else {
      throw WebRefusal(400, "'row' takes the number of a row.")
    }
    return value
  }
}
