/// Keeps the first people by age and name of all that are offered, for engines that cannot.
///
/// What comes later than the last of those kept is turned away by a look at its age, mostly.
struct FirstPeople {
  private struct Entry {
    var age: Int64
    var name: [UInt8]
    var key: Int64

    func precedes(_ other: Entry) -> Bool {
      if age != other.age { return age < other.age }
      let order = name.withUnsafeBytes { left in
        other.name.withUnsafeBytes { right in compareBytes(left, right) }
      }
      return order == 0 ? key < other.key : order < 0
    }
  }

  private let limit: Int
  private var entries: [Entry] = []

  init(_ limit: Int) { self.limit = limit }

  /// The greatest age that still has a chance.
  private(set) var greatestAge = Int64.max

  /// Whether somebody with this age and name would be kept.
  @inline(__always)
  func admits(_ age: Int64, _ name: UnsafeRawBufferPointer) -> Bool {
    if age != greatestAge { return age < greatestAge }
    guard let last = entries.last else { return true }
    return last.name.withUnsafeBytes { compareBytes(name, $0) } <= 0
  }

  /// Puts somebody in its place and drops who is last, if there are too many.
  mutating func insert(_ key: Int64, _ age: Int64, _ name: UnsafeRawBufferPointer) {
    let entry = Entry(age: age, name: Array(name), key: key)
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].precedes(entry) { low = middle + 1 } else { high = middle }
    }
    entries.insert(entry, at: low)
    if entries.count > limit { entries.removeLast() }
    if entries.count == limit, let last = entries.last { greatestAge = last.age }
  }

  /// Their keys, in order.
  var keys: [Int64] { entries.map(\.key) }
}
