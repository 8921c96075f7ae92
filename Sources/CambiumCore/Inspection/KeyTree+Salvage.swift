extension KeyTree {
  /// Stores every key whose value can be read in `editor`, and calls `lost` with all others, in words
  /// and as their number.
  ///
  /// Errors of this tree's bytes are not thrown, those of the editor all are.
  func salvage(
    into editor: KeyTreeEditor, lost: (_ keys: String, _ count: Int, Damage) -> Void
  ) throws(StoreError) {
    try TreeWalk(root, source).salvage(
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
        if unsafe editor.context.dirty.byteCount > editor.limits.spillByteCount {
          _ = try editor.flush()
        }
      },
      lost: { part, damage in lost("\(part.keys)", part.count, damage) })
  }
}
