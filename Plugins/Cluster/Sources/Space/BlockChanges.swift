import CambiumCore
import CambiumStoreKit

/// Gathers what a commit changes in blocks.
struct BlockChanges {
  private let layout: BlockLayout
  private var changes: [UInt64: BlockChange] = [:]

  init(_ layout: BlockLayout) { self.layout = layout }

  /// The changes, in the order of the blocks.
  var list: [BlockChange] { changes.values.sorted { $0.block < $1.block } }

  /// A page was added.
  mutating func add(_ extent: Extent) {
    layout.forEachPart(of: extent) {
      changes[$0.block, default: .none($0.block)].added += UInt32($0.unitCount)
    }
  }

  /// A page was freed.
  mutating func free(_ extent: Extent) {
    layout.forEachPart(of: extent) {
      changes[$0.block, default: .none($0.block)].freed += UInt32($0.unitCount)
    }
  }

  /// Something was written to these blocks, which perhaps nobody needs.
  mutating func touch(_ blocks: Range<UInt64>) {
    for block in blocks where changes[block] == nil { changes[block] = .none(block) }
  }
}

extension BlockChange {
  fileprivate static func none(_ block: UInt64) -> BlockChange {
    BlockChange(block: block, added: 0, freed: 0)
  }
}
