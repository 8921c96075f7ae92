import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// Damaged trees: an error or the right answer, and never a crash.
struct KeyTreeDamageTests {
  /// Changes one page after it was laid out and before it was hashed, so that checksums are right
  /// and the structure is not.
  ///
  /// Unchecked by a lock: used by one writer.
  private final class Saboteur: PageCodec {
    let name = "saboteur"
    private let counter = Mutex(0)
    private let sabotage: @Sendable (Int, inout [UInt8], PageKind) -> Void

    init(_ sabotage: @escaping @Sendable (Int, inout [UInt8], PageKind) -> Void) {
      self.sabotage = sabotage
    }

    func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8] {
      var bytes = [UInt8](copying: page)
      let number = counter.withLock { counter in
        defer { counter += 1 }
        return counter
      }
      sabotage(number, &bytes, kind)
      return bytes
    }

    func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

    func open(_ body: Span<UInt8>, context: PageContext) throws(StoreError) -> PageBuffer {
      PageBuffer(copying: body)
    }
  }

  /// Thirty entries in a tree three levels high, one of them in overflow pages.
  private static let model: KeyModel = {
    var model = KeyModel()
    for number in 0..<30 {
      let value = [UInt8](repeating: UInt8(number), count: number == 5 ? 1100 : number)
      _ = model.set(Array("a stem/\(number * 37)".utf8), value)
    }
    return model
  }()

  private static func fill(_ bench: KeyTreeBench) throws -> KeyTree {
    try bench.write { editor throws in
      for entry in model.entries { try editor.set(entry.key, entry.value) }
    }
  }

  /// Runs `body`; only damage may come of it.
  private static func tolerate(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return true
    } catch StoreError.damaged {
      return false
    } catch {
      Issue.record("\(error)")
      return false
    }
  }

  @Test func `a flipped bit is found wherever it is`() throws {
    let store = ObservedStore()
    let bench = KeyTreeBench(store: store, leaf: 128, branch: 200)
    let tree = try Self.fill(bench)
    var pages: [PageReference] = []
    try tree.walk({ reference, _ in pages.append(reference) }, damage: { Issue.record("\($0)") })
    #expect(tree.root.height >= 3)
    for page in pages {
      for offset in 0..<page.byteCount {
        store.falsify { reference, buffer in
          if reference.address == page.address {
            let bits = UInt8(1) << UInt8(offset % 8)
            let old = buffer.bytes.load(fromByteOffset: offset, as: UInt8.self)
            buffer.bytes.storeBytes(of: old ^ bits, toByteOffset: offset, as: UInt8.self)
          }
        }
        var findings: [Damage] = []
        try bench.reopened(tree).walk({ _, _ in }, damage: { findings.append($0) })
        #expect(findings.map(\.rule) == [.checksum])
        #expect(findings.first?.reference?.address == page.address)
        if offset % 16 == 0 {
          #expect(!Self.tolerate { _ = try bench.reopened(tree).entries() })
          let tree = bench.reopened(tree)
          for entry in Self.model.entries {
            let _ = Self.tolerate { () throws in
              #expect(try tree.value(for: entry.key) == entry.value)
            }
          }
        }
      }
    }
  }

  @Test(arguments: [0x01, 0x80, 0xff] as [UInt8])
  func `a page that lies under a right checksum never crashes`(mask: UInt8) throws {
    let pageCount = try {
      var count = 0
      try Self.fill(KeyTreeBench(leaf: 128, branch: 200)).walk(
        { _, _ in count += 1 }, damage: { Issue.record("\($0)") })
      return count
    }()
    for target in 0..<pageCount {
      var offset = 0
      var isInPage = true
      while isInPage {
        let reached = Mutex(false)
        let place = offset
        let codec = Saboteur { number, bytes, kind in
          if number == target, kind != .overflow, place < bytes.count {
            bytes[place] ^= mask
            reached.withLock { $0 = true }
          }
        }
        let bench = KeyTreeBench(codec: codec, leaf: 128, branch: 200)
        Self.exercise(try Self.fill(bench), bench)
        isInPage = reached.withLock { $0 }
        offset += 1
      }
    }
  }

  /// Every reading and writing operation on a tree that may be broken.
  private static func exercise(_ tree: KeyTree, _ bench: KeyTreeBench) {
    let _ = tolerate { () throws in _ = try tree.entries() }
    let _ = tolerate { () throws in try tree.walk({ _, _ in }, damage: { _ in }) }
    let _ = tolerate { () throws in _ = try tree.count(in: KeyRange(prefix: Array("a stem/3".utf8)))
    }
    for rank in 0...12 {
      let _ = tolerate { () throws in
        var cursor = tree.cursor()
        if try cursor.seek(toRank: rank) { _ = (cursor.key, cursor.keyTail, cursor.rank) }
        if try cursor.isValid && cursor.previous() { _ = try cursor.value }
      }
    }
    for entry in model.entries {
      let _ = tolerate { () throws in _ = try tree.value(for: entry.key) }
    }
    let _ = tolerate { () throws in
      try KeyTree.diff(old: tree, new: KeyTree(root: .empty(.key), source: tree.source)) {
        _ throws(StoreError) in
      }
    }
    for step in 1...3 {
      let _ = tolerate { () throws in
        try bench.write { editor throws in
          for (index, entry) in model.entries.enumerated() where index % step == 0 {
            try editor.set(entry.key + [0], entry.value + [1])
            try editor.remove(entry.key)
          }
        }
      }
    }
  }

  @Test func `a walk finds what no page can know alone`() throws {
    // The count of a child, and a separator above its first key: both legal within their page.
    func findings(
      _ kind: PageKind, _ change: @escaping @Sendable (inout [UInt8], KeyNode) -> Void
    ) throws -> [Damage.Rule] {
      let isDone = Mutex(false)
      let codec = Saboteur { _, bytes, found in
        guard found == kind, !isDone.withLock({ $0 }) else { return }
        isDone.withLock { $0 = true }
        let copy = bytes
        copy.withUnsafeBytes { copy in
          change(&bytes, KeyNode(copy.baseAddress.unsafelyUnwrapped, byteCount: copy.count))
        }
      }
      let bench = KeyTreeBench(codec: codec, leaf: 128, branch: 200)
      let tree = try Self.fill(bench)
      var findings: [Damage.Rule] = []
      try tree.walk({ _, _ in }, damage: { findings.append($0.rule) })
      return findings
    }
    let counts = try findings(.keyBranch) { bytes, node in
      bytes[node.childCell(1) + PageReference.byteCount] += 1
    }
    #expect(counts == [.count])
    let order = try findings(.keyBranch) { bytes, node in
      // The separator's last character, in the head or behind it, is raised within its order.
      let slot = node.slot(node.count - 1)
      let cell = node.childCell(node.count - 1)
      if slot.suffixLength > 4 {
        bytes[cell + KeyNode.branchCellHeader + slot.restLength - 1] += 5
      } else {
        let place = 16 + (node.count - 1) * 8 + 4 - slot.suffixLength
        bytes[place] += 5
      }
    }
    #expect(order == [.order])

    let bench = KeyTreeBench(leaf: 128, branch: 200)
    var tree = try Self.fill(bench)
    tree.root.rowCount += 1
    var found: [Damage.Rule] = []
    try tree.walk({ _, _ in }, damage: { found.append($0.rule) })
    #expect(found == [.count])
    tree.root.rowCount -= 1
    tree.root.height += 1
    found = []
    try tree.walk({ _, _ in }, damage: { found.append($0.rule) })
    #expect(Set(found) == [.height])
  }

  @Test func `a node that is longer than a node may be is damage`() throws {
    let (count, end) = (64, 65_535)
    var bytes = [UInt8](repeating: 0, count: 65_536)
    func put(_ value: Int, _ offset: Int) {
      bytes[offset] = UInt8(value & 255)
      bytes[offset + 1] = UInt8(value >> 8 & 255)
    }
    bytes[0] = PageKind.keyLeaf.rawValue
    put(count, 2)
    put(end, 8)
    put(end - 16 - 8 * count, 10)
    var offset = end - 16 - 8 * count
    for index in 0..<count {
      let slot = 16 + index * 8
      bytes[slot + 3] = UInt8(index)
      put(offset, slot + 4)
      put(4, slot + 6)
      let value = index == count - 1 ? offset - 2 : 1014
      put(value, end - offset)
      offset -= 2 + value
    }
    try #require(offset == 0)
    let page = PageBuffer(copying: bytes.span).page
    #expect {
      try KeyNode.validate(page, .none, .keyLeaf)
    } throws: { ($0 as? StoreError)?.damage(at: .none)?.rule == .bounds }
  }
}
