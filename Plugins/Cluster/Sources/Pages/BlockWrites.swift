import CambiumCore

/// Gathers pages into as few writes of blocks as their addresses allow.
///
/// Pointers: bytes are lent to the array for the call that copies them.
struct BlockWrites {
  private let layout: BlockLayout
  private let names: ObjectNames
  /// One write after the other, each of one block.
  private(set) var requests: [ObjectRequest] = []
  private var block: UInt64 = 0
  private var offset = 0
  private var bytes: [UInt8] = []

  init(_ layout: BlockLayout, _ names: ObjectNames) { (self.layout, self.names) = (layout, names) }

  /// Adds a page; pages come in the order of their addresses.
  mutating func add(_ location: UInt64, _ page: Page) {
    let extent = Extent(address: location >> 16, unitCount: location & 0xffff)
    var taken = 0
    for part in layout.parts(of: extent) {
      if part.block != block || part.byteOffset != offset + bytes.count || bytes.isEmpty {
        end()
        (block, offset) = (part.block, part.byteOffset)
      }
      page.withBytes { source in
        unsafe source.extracting(taken..<taken + part.byteCount).withUnsafeBytes {
          unsafe bytes.append(contentsOf: $0)
        }
      }
      taken += part.byteCount
    }
  }

  /// Ends the last write.
  mutating func end() {
    if bytes.isEmpty { return }
    requests.append(.write(name: names.block(block), offset: offset, bytes: bytes))
    bytes = []
  }
}
