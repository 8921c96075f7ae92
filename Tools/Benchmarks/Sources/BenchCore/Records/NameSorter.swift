/// Sorts people by age and name, or by name alone, for engines that cannot: the same code for all.
///
/// Ages and the beginnings of names are compared as one number; names that agree in that are
/// compared byte by byte, people that agree in everything by key.
struct NameSorter {
  private struct Entry {
    /// The age, if it counts, and as much of the name as fits.
    var head: UInt64
    var key: Int64
    var start: UInt32
    var count: UInt32
  }

  private var entries: [Entry] = []
  private var heap: [UInt8] = []
  private let hasAges: Bool

  init(capacity: Int, hasAges: Bool) {
    self.hasAges = hasAges
    entries.reserveCapacity(capacity)
    heap.reserveCapacity(capacity * 16)
  }

  /// Adds a person; the bytes are copied.
  @inline(__always)
  mutating func add(_ key: Int64, age: Int64, _ name: UnsafeRawBufferPointer) {
    entries.append(
      Entry(
        head: Self.head(age, name, hasAges: hasAges), key: key, start: UInt32(heap.count),
        count: UInt32(name.count)))
    heap.append(contentsOf: name)
  }

  @inline(__always)
  private static func head(
    _ age: Int64, _ name: UnsafeRawBufferPointer, hasAges: Bool
  ) -> UInt64 {
    var head: UInt64 = 0
    if name.count >= 8 {
      head = UInt64(bigEndian: name.loadUnaligned(as: UInt64.self))
    } else {
      for place in 0..<8 { head = head << 8 | (place < name.count ? UInt64(name[place]) : 0) }
    }
    return hasAges ? UInt64(age) << 56 | head >> 8 : head
  }

  /// Sorts everybody.
  mutating func sort() {
    heap.withUnsafeBytes { heap in
      entries.sort { left, right in
        if left.head != right.head { return left.head < right.head }
        let order = compareBytes(Self.name(of: left, heap), Self.name(of: right, heap))
        return order == 0 ? left.key < right.key : order < 0
      }
    }
  }

  /// Visits everybody, or the first ones, in order.
  func forEach(
    limit: Int = .max, _ body: (Int64, UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try heap.withUnsafeBytes { heap in
      for entry in entries.prefix(limit) { try body(entry.key, Self.name(of: entry, heap)) }
    }
  }

  @inline(__always)
  private static func name(
    of entry: Entry, _ heap: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      rebasing: heap[Int(entry.start)..<Int(entry.start) + Int(entry.count)])
  }
}
