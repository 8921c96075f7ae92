@testable import CambiumFile

/// What runs have done, so that nobody believes in what they have left out.
struct CrashDeeds {
  enum Kind: CaseIterable {
    case slotHead, settledHead
    case growth, bulkWrite, truncation, checkpoint, commitDuringSync, sharedSync, failedOperation
    case relocatingWrite, movedPage, commitInMemory, batchInLog, refusedByLimit, logGivenUp
  }

  private var counts: [Kind: Int] = [:]
  /// Whether the head before had a log.
  private var hadLog = false

  /// None.
  init() {}

  /// What can be seen of operations on a disk that held `initial` before.
  init(_ operations: [SimulatedDevice.Operation], _ initial: [UInt8]) {
    guard
      let identity = try? IdentitySector(
        stored: Array(Self.first(operations, initial).prefix(FileLayout.sectorByteCount)),
        path: "simulated")
    else { return }
    for offset in FileLayout.headOffsets where offset < initial.count {
      note(Array(initial[offset..<offset + FileLayout.sectorByteCount]), at: offset, identity)
    }
    counts = [:]
    var byteCount = initial.count
    for operation in operations {
      switch operation {
      case .write(let bytes, let offset):
        note(bytes, at: offset, identity)
        if offset > 0, offset + bytes.count > byteCount {
          // Only large commits write behind the end before it was filled with zeros.
          self[bytes.allSatisfy { $0 == 0 } ? .growth : .bulkWrite] += 1
        }
        byteCount = max(byteCount, offset + bytes.count)
      case .truncate(let end):
        self[.truncation] += 1
        byteCount = end
      case .sync, .failedSync: break
      }
    }
  }

  private static func first(
    _ operations: [SimulatedDevice.Operation], _ initial: [UInt8]
  ) -> [UInt8] {
    if !initial.isEmpty { return initial }
    for case .write(let bytes, 0) in operations { return bytes }
    return []
  }

  private mutating func note(_ bytes: [UInt8], at offset: Int, _ identity: IdentitySector) {
    if bytes.starts(with: FileLayout.Batch.magicBytes) { self[.batchInLog] += 1 }
    let sector = Array(bytes.prefix(FileLayout.sectorByteCount))
    guard FileLayout.headOffsets.contains(offset),
      let head = HeadSector(
        stored: sector, identity: identity, at: HeadSector.place(atByte: offset))
    else { return }
    self[head.isSettled ? .settledHead : .slotHead] += 1
    if hadLog, head.log == nil { self[.logGivenUp] += 1 }
    hadLog = head.log != nil
    if !head.freeMap.isNone, head.freeMap.born == head.head.version { self[.checkpoint] += 1 }
  }

  subscript(kind: Kind) -> Int {
    get { counts[kind] ?? 0 }
    set { counts[kind] = newValue }
  }

  mutating func add(_ other: CrashDeeds) { counts.merge(other.counts, uniquingKeysWith: +) }

  /// The kinds that never happened.
  var missing: [Kind] { Kind.allCases.filter { self[$0] == 0 } }
}
