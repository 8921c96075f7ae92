/// Keys that cannot be read any more.
struct LostKeys {
  /// The least key that may be lost; nil for the tree's first one.
  var lower: [UInt8]?
  /// The least key above them that may be there again; nil when they reach to the end.
  var upper: [UInt8]?
  /// How many there were, as the parent says.
  var count: Int
}

extension KeyTree {
  /// Calls `body` with every leaf that can be read, ascending, and `lost` with what lies between.
  ///
  /// A page that two branches name is taken once. Only errors that say nothing about the tree's
  /// bytes, and those of `body`, are thrown.
  func salvage(
    _ body: (Page) throws(StoreError) -> Void, lost: (LostKeys, Damage) -> Void
  ) throws(StoreError) {
    if root.isEmpty { return }
    var seen: Set<PageReference> = []
    let all = LostKeys(lower: nil, upper: nil, count: count)
    try salvage(root.reference, height: Int(root.height), all, &seen, body, lost)
  }

  private func salvage(
    _ reference: PageReference, height: Int, _ range: LostKeys, _ seen: inout Set<PageReference>,
    _ body: (Page) throws(StoreError) -> Void, _ lost: (LostKeys, Damage) -> Void
  ) throws(StoreError) {
    guard seen.insert(reference).inserted else {
      return lost(range, Damage(.reference, at: reference, "two branches name the same page"))
    }
    let page: Page
    do throws(StoreError) {
      page = try source.page(reference, height == 1 ? .keyLeaf : .keyBranch)
    } catch {
      guard let damage = error.damage(at: reference) else { throw error }
      return lost(range, damage)
    }
    if height == 1 { return try body(page) }
    let node = KeyNode(page)
    var lower = range.lower
    for index in 0..<node.count {
      let upper =
        index + 1 < node.count
        ? node.key(index + 1, header: KeyNode.branchCellHeader) : range.upper
      let part = LostKeys(lower: lower, upper: upper, count: node.childRowCount(index))
      try salvage(node.child(index), height: height - 1, part, &seen, body, lost)
      lower = upper
    }
    withExtendedLifetime(page) {}
  }

  /// Stores every key whose value can be read in `editor`, and calls `lost` with all others, in words
  /// and as their number.
  ///
  /// Errors of this tree's bytes are not thrown, those of the editor all are.
  func salvage(
    into editor: KeyTreeEditor, lost: (_ keys: String, _ count: Int, Damage) -> Void
  ) throws(StoreError) {
    try salvage(
      { page throws(StoreError) in
        let node = KeyNode(page)
        for index in 0..<node.count {
          let key = node.key(index, header: KeyNode.leafCellHeader)
          let value: [UInt8]
          do throws(StoreError) {
            value = try node.storedValue(index).read(from: source)
          } catch {
            guard let damage = error.damage(at: .none) else { throw error }
            lost(Salvage.describe(key), 1, damage)
            continue
          }
          if try !editor.set(key, value) {
            lost(Salvage.describe(key), 1, Damage(.order, "the key occurs twice"))
          }
        }
        if editor.context.dirty.byteCount > editor.limits.spillByteCount {
          _ = try editor.flush()
        }
      },
      lost: { keys, damage in lost(Salvage.describe(keys), keys.count, damage) })
  }
}
