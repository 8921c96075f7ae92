/// Checks the whole structure of a page once, before anything in it is believed.
///
/// Each kind of node checks itself; this is only the switch. A page that passes cannot lead a read
/// out of its own bytes.
enum PageValidator {
  /// Throws ``StoreError/damaged(_:)`` naming the first broken rule.
  static func validate(
    _ page: Page, _ reference: PageReference, _ kind: PageKind
  ) throws(StoreError) {
    switch kind {
    case .overflow: return
    case .keyLeaf, .keyBranch: try KeyNode.validate(page, reference, kind)
    case .columnLeaf: try ColumnLeaf.validate(page, reference)
    case .columnBranch: try ColumnBranch.validate(page, reference)
    }
  }
}
