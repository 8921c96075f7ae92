/// What an engine read, boiled down, so that no engine can skip the bytes and all must agree.
struct NameDigest: Equatable {
  private(set) var value: UInt64 = 0

  /// Adds one name; its length, first and last byte count.
  @inline(__always)
  mutating func add(_ name: UnsafeRawBufferPointer) {
    let count = name.count
    guard count > 0 else { return }
    value &+= UInt64(count) &* 65537 &+ UInt64(name[0]) &* 257 &+ UInt64(name[count - 1])
  }
}

extension NameDigest {
  /// Adds one name that was made a `String`.
  @inline(__always)
  mutating func add(_ name: consuming String) {
    name.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }
}
