import TestSupport

@testable import CambiumCore

/// A key tree as the only tree of a store.
final class KeyTreeBench {
  let store: any PageStore
  let codec: (any PageCodec)?
  let trust = TrustTable(bitCount: 8)
  let limits: KeyTreeEditor.Limits

  /// Small limits make high trees of few keys.
  init(
    store: any PageStore = HeapStore(), codec: (any PageCodec)? = nil, leaf: Int = 8192,
    branch: Int = 4096
  ) {
    self.store = store
    self.codec = codec
    limits = KeyTreeEditor.Limits(
      leafByteCount: leaf, branchByteCount: branch, spillByteCount: 16 * leaf)
  }

  /// The newest version.
  func snapshot() throws(StoreError) -> KeyTree {
    let pin = try store.pin()
    return KeyTree(root: pin.head.root, source: source(pin))
  }

  /// The same version through an empty cache.
  func reopened(_ tree: KeyTree) -> KeyTree {
    guard let pin = tree.source.pin else { preconditionFailure("Only snapshots are reopened.") }
    return KeyTree(root: tree.root, source: source(pin))
  }

  private func source(_ pin: Pin) -> PageSource {
    // The smallest cache there is: most reads meet the store.
    PageSource(pin: pin, store: store, codec: codec, trust: trust, cache: PageCache(byteCount: 0))
  }

  /// Runs one transaction; an error rolls it back.
  @discardableResult
  func write(_ body: (KeyTreeEditor) throws -> Void) throws -> KeyTree {
    let pin = try store.pin()
    let writer = try store.beginWrite()
    let context = WriteContext(
      source: source(pin), writer: writer, codec: codec, store: store.identity)
    let editor = KeyTreeEditor(root: pin.head.root, context: context, limits: limits)
    do {
      try body(editor)
      let root = try editor.flush()
      var given = context.takeAbandonedRoots()
      while let root = given.popLast() { given += try DeadRoots.free(root, in: context) }
      let published = try writer.publish(root: root, durability: .full, metadata: [])
      return KeyTree(root: root, source: source(published))
    } catch {
      writer.abort()
      throw error
    }
  }

  /// What a walk of `tree` finds wrong, and which extents the store has beyond or short of it.
  func findings(_ tree: KeyTree) throws -> [String] {
    var findings: [String] = []
    var extents: [Extent] = []
    try tree.walk(
      { reference, _ in extents.append(reference.extent) },
      damage: { findings.append("\($0)") })
    let isNewest = try store.newestHead().root == tree.root
    return findings + (isNewest ? try store.check(reachable: extents) : [])
  }
}

extension KeyTree {
  /// Every key and value, ascending.
  func entries() throws(StoreError) -> [Entry] {
    var entries: [Entry] = []
    var cursor = cursor()
    var isAtKey = try cursor.seekFirst()
    while isAtKey {
      entries.append(Entry(key: cursor.key, value: try cursor.copyValue()))
      isAtKey = try cursor.next()
    }
    return entries
  }

  struct Entry: Hashable {
    var key: [UInt8]
    var value: [UInt8]
  }
}

/// The tree's model: a sorted array.
struct KeyModel: Equatable {
  var entries: [KeyTree.Entry] = []

  var keys: [[UInt8]] { entries.map(\.key) }

  func lowerBound(_ key: [UInt8]) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key.lexicographicallyPrecedes(key) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  func value(_ key: [UInt8]) -> [UInt8]? {
    let index = lowerBound(key)
    return index < entries.count && entries[index].key == key ? entries[index].value : nil
  }

  mutating func set(_ key: [UInt8], _ value: [UInt8]) -> Bool {
    let index = lowerBound(key)
    if index < entries.count, entries[index].key == key {
      entries[index].value = value
      return false
    }
    entries.insert(KeyTree.Entry(key: key, value: value), at: index)
    return true
  }

  mutating func remove(_ key: [UInt8]) -> Bool {
    let index = lowerBound(key)
    guard index < entries.count, entries[index].key == key else { return false }
    entries.remove(at: index)
    return true
  }
}
