import TestSupport

/// What a disk may hold if power is cut, at one point of its past after the other.
///
/// Everything up to the last sync is there; of what came later any sectors at all. After a failed
/// sync each of the sectors it was about is there or not, for good.
struct CrashStates {
  private let operations: [SimulatedDevice.Operation]
  private let sectorByteCount: Int
  /// What is there for certain.
  private var stored: [UInt8]
  private var unsynced: [(index: Int, operation: SimulatedDevice.Operation)] = []
  private var position = 0

  /// Begins before the first operation of `device`.
  init(_ device: SimulatedDevice) {
    operations = device.operations
    sectorByteCount = device.sectorByteCount
    stored = device.initial
  }

  /// Whether more than one state is possible here.
  var isOpen: Bool { !unsynced.isEmpty }

  /// Moves on to the point after `count` operations.
  mutating func advance(to count: Int, generator: inout SeededGenerator) {
    while position < count {
      let operation = operations[position]
      switch operation {
      case .write, .truncate: unsynced.append((position, operation))
      case .sync(let end): store(before: end, share: 1, &generator)
      case .failedSync(let end): store(before: end, share: 0.5, &generator)
      }
      position += 1
    }
  }

  /// Ends a sync of the operations before the one of number `end`.
  private mutating func store(before end: Int, share: Double, _ generator: inout SeededGenerator) {
    for (index, pending) in unsynced where index < end { keep(pending, share, &stored, &generator) }
    unsynced.removeAll { $0.index < end }
  }

  /// One possible state; `mood` 0 keeps nothing of what was not synced, 1 everything.
  func image(mood: Double, generator: inout SeededGenerator) -> [UInt8] {
    var image = stored
    for (_, pending) in unsynced { keep(pending, mood, &image, &generator) }
    return image
  }

  private func keep(
    _ operation: SimulatedDevice.Operation, _ share: Double, _ image: inout [UInt8],
    _ generator: inout SeededGenerator
  ) {
    func isKept() -> Bool {
      share >= 1 || share > 0 && Double.random(in: 0..<1, using: &generator) < share
    }
    switch operation {
    case .write(let bytes, let offset):
      // Some writes survive whole, others sector by sector.
      let isWhole = isKept() && (share >= 1 || Bool.random(using: &generator))
      if isWhole { return SimulatedDevice.place(bytes[...], offset, &image) }
      if share <= 0 { return }
      var position = 0
      while position < bytes.count {
        let sectorEnd = ((offset + position) / sectorByteCount + 1) * sectorByteCount - offset
        let end = min(bytes.count, sectorEnd)
        if isKept() { SimulatedDevice.place(bytes[position..<end], offset + position, &image) }
        position = end
      }
    case .truncate(let byteCount):
      if isKept(), byteCount < image.count { image.removeLast(image.count - byteCount) }
    case .sync, .failedSync: break
    }
  }
}
