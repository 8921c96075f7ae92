/// What waits, first come first served: taking the first one does not move the others.
struct Waiting<Element> {
  private var elements: [Element?] = []
  /// Where the first one is.
  private var start = 0

  var isEmpty: Bool { start == elements.count }

  var first: Element? { isEmpty ? nil : elements[start] }

  /// The places of the elements, for ``subscript(_:)``; good until one is added or taken out.
  var indices: Range<Int> { start..<elements.count }

  subscript(place: Int) -> Element {
    get {
      guard let element = elements[place] else { preconditionFailure("Nobody waits at \(place).") }
      return element
    }
    set { elements[place] = newValue }
  }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func prepend(_ element: Element) {
    if start > 0 {
      start -= 1
      elements[start] = element
    } else {
      elements.insert(element, at: 0)
    }
  }

  mutating func removeFirst() -> Element {
    let element = self[start]
    elements[start] = nil
    start += 1
    if start * 2 > elements.count {
      elements.removeFirst(start)
      start = 0
    }
    return element
  }

  mutating func remove(at place: Int) { elements.remove(at: place) }

  mutating func removeAll() -> [Element] {
    defer { (elements, start) = ([], 0) }
    return elements[start...].compactMap(\.self)
  }

  func firstIndex(where condition: (Element) -> Bool) -> Int? {
    indices.first { condition(self[$0]) }
  }
}
