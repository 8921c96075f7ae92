import TestSupport
import Testing

@testable import CambiumCore

/// A page of a sound tree and the rows below it, counted from the tree's first.
struct SalvageNode: Hashable {
  var reference: PageReference
  var height: Int
  var rows: Range<Int>

  /// Some of `nodes` to damage: each page alone, then several at random.
  static func choices(
    _ nodes: [SalvageNode], _ generator: inout SeededGenerator
  ) -> [[SalvageNode]] {
    nodes.map { [$0] }
      + (0..<40).map { _ in
        let count = Int.random(in: 2...6, using: &generator)
        return Array(Set((0..<count).compactMap { _ in nodes.randomElement(using: &generator) }))
      }
  }

  /// A view of `store` in which one bit of each page in `damaged` is another.
  static func damage(_ damaged: [SalvageNode], of store: any PageStore) -> ObservedStore {
    let observed = ObservedStore(store)
    let addresses = Set(damaged.map(\.reference.address))
    observed.falsify { reference, page in
      guard addresses.contains(reference.address) else { return }
      let byte = page.bytes.load(fromByteOffset: 20, as: UInt8.self)
      page.bytes.storeBytes(of: byte ^ 4, toByteOffset: 20, as: UInt8.self)
    }
    return observed
  }
}

/// What one salvage of a tree found; bounds by key are those of one kind of tree.
struct SalvageFinding<Bound: Equatable>: Equatable {
  struct Loss: Equatable {
    /// Below it everything was saved; nil when there is nothing below.
    var lower: Bound?
    /// From here on everything was saved; nil when there is nothing more.
    var upper: Bound?
    var count: Int
  }
  var saved: [Bound] = []
  var losses: [Loss] = []
}

/// Which bound each tree says lies before which row: every loss has to agree.
struct SalvageBounds<Bound: Equatable> {
  let keys: [Bound]
  let precedes: (Bound, Bound) -> Bool
  private var known: [Int: Bound] = [:]

  init(_ keys: [Bound], by precedes: @escaping (Bound, Bound) -> Bool) {
    self.keys = keys
    self.precedes = precedes
  }

  /// Expects that `finding` is what the loss of all pages in `damaged` leaves.
  mutating func expect(
    _ finding: SalvageFinding<Bound>, _ damaged: [SalvageNode],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let lost = damaged.filter { node in
      !damaged.contains {
        $0.height > node.height && $0.rows.lowerBound <= node.rows.lowerBound
          && $0.rows.upperBound >= node.rows.upperBound
      }
    }.sorted { $0.rows.lowerBound < $1.rows.lowerBound }
    let isLost = lost.reduce(into: Set<Int>()) { $0.formUnion($1.rows) }
    #expect(
      finding.saved == keys.indices.filter { !isLost.contains($0) }.map { keys[$0] },
      sourceLocation: sourceLocation)
    #expect(
      finding.losses.map(\.count) == lost.map(\.rows.count), sourceLocation: sourceLocation)
    for (loss, node) in zip(finding.losses, lost) {
      expect(loss.lower, before: node.rows.lowerBound, sourceLocation)
      expect(loss.upper, before: node.rows.upperBound, sourceLocation)
    }
  }

  private mutating func expect(
    _ bound: Bound?, before row: Int, _ sourceLocation: SourceLocation
  ) {
    guard row > 0, row < keys.count else {
      #expect(bound == nil, "outside of all rows", sourceLocation: sourceLocation)
      return
    }
    guard let bound else {
      Issue.record("no bound before row \(row)", sourceLocation: sourceLocation)
      return
    }
    #expect(precedes(keys[row - 1], bound), "row \(row - 1)", sourceLocation: sourceLocation)
    #expect(!precedes(keys[row], bound), "row \(row)", sourceLocation: sourceLocation)
    #expect(known[row, default: bound] == bound, "row \(row)", sourceLocation: sourceLocation)
    known[row] = bound
  }
}

extension PageSource {
  /// A source that reads each page of `store` anew.
  static func uncached(_ store: any PageStore) throws -> PageSource {
    PageSource(
      pin: try store.pin(), store: store, codec: nil, trust: TrustTable(bitCount: 8),
      cache: PageCache(byteCount: 0))
  }
}
