/// Checks the whole structure of a page once, before anything in it is believed.
///
/// Each kind of node checks itself; this is only the switch. A page that passes cannot lead a read
/// out of its own bytes.
enum PageValidator {
  /// Throws ``StoreError/damaged(_:)`` naming the first broken rule.
  ///
  /// `isUnstored` says that the page lies in memory: what it refers to may lie there, too.
  static func validate(
    _ page: Page, _ reference: PageReference, _ kind: PageKind, isUnstored: Bool = false
  ) throws(StoreError) {
    switch kind {
    case .overflow: return
    case .keyLeaf, .keyBranch:
      try KeyNode.validate(page, reference, kind, isUnstored: isUnstored)
    case .columnLeaf: try ColumnLeaf.validate(page, reference)
    case .columnBranch: try ColumnBranch.validate(page, reference, isUnstored: isUnstored)
    }
  }
}
