/// Turns arbitrary bytes into decisions; zeros when they run out.
struct ByteSupply {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isEmpty: Bool { position >= bytes.count }

  mutating func byte() -> UInt8 {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func number(below bound: Int) -> Int {
    (Int(byte()) | (bound > 256 ? Int(byte()) << 8 : 0) | (bound > 65_536 ? Int(byte()) << 16 : 0))
      % max(1, bound)
  }

  mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

  /// A run of bytes; long ones repeat what there is.
  mutating func run(atMost limit: Int) -> [UInt8] {
    let count = number(below: limit + 1)
    let start = min(position, bytes.count)
    let real = bytes[start..<min(bytes.count, start + min(count, 64))]
    position += real.count
    var run = [UInt8](real)
    while run.count < count { run.append(UInt8(truncatingIfNeeded: run.count &* 31)) }
    return run
  }
}
