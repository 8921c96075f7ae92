enum ColumnLeaf {
  static func validate(_ page: Page, _ reference: PageReference) throws(StoreError) {}
}
enum ColumnBranch {
  static func validate(_ page: Page, _ reference: PageReference) throws(StoreError) {}
}
