/// A range of keys: from `lower` on, up to, not including, `upper`.
public struct KeyRange: Hashable, Sendable {
  /// The least key of the range; the empty key for none.
  public var lower: [UInt8]
  /// The least key above the range; nil for none.
  public var upper: [UInt8]?

  /// The keys from `lower` on, up to, not including, `upper`.
  public init(from lower: [UInt8] = [], to upper: [UInt8]? = nil) {
    self.lower = lower
    self.upper = upper
  }

  /// All keys that begin with `prefix`.
  public init(prefix: [UInt8]) {
    lower = prefix
    upper = Self.successor(ofPrefix: prefix)
  }

  /// The least key above all that begin with `prefix`; nil if every byte is 0xFF.
  public static func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 != 0xff }) else { return nil }
    var successor = Array(prefix[...last])
    successor[last] += 1
    return successor
  }
}

extension KeyTree {
  /// How many keys lie in `range`; in O(log n).
  public func count(in range: KeyRange) throws(StoreError) -> Int {
    guard let upper = range.upper else {
      return unsafe range.lower.isEmpty ? count : max(0, count - (try rank(of: range.lower)))
    }
    return try unsafe range.lower.withUnsafeBufferPointer { lower throws(StoreError) in
      try unsafe upper.withUnsafeBufferPointer { upper throws(StoreError) in
        try unsafe count(from: UnsafeRawBufferPointer(lower), below: UnsafeRawBufferPointer(upper))
      }
    }
  }

  /// Calls `body` with a cursor at each key of `range`, ascending, until it returns false.
  ///
  /// The body may read the cursor, but must not move it.
  public func forEach(
    in range: KeyRange, _ body: (inout KeyCursor) throws(StoreError) -> Bool
  ) throws(StoreError) {
    // Counting the keys first takes two ways down and saves a comparison per key.
    let count = try count(in: range)
    if count == 0 { return }
    var cursor = cursor()
    var isAtKey = try cursor.seek(to: range.lower)
    for _ in 0..<count {
      guard isAtKey, try body(&cursor) else { return }
      isAtKey = try cursor.next()
    }
  }
}
