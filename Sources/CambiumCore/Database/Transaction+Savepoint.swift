/// Changes of a transaction that can be undone without those before them.
extension Transaction {
  /// Where a transaction stood.
  package struct Savepoint {
    fileprivate let tables: [(name: String, state: TableEditor.State)]
    fileprivate let keyTrees: [(name: String, root: TreeRoot)]
    fileprivate let names: TreeRoot
    fileprivate let writtenRoots: [ExactText: TreeRoot]
    fileprivate let droppedTables: [ExactText]
    fileprivate let hasNewLayout: Bool
  }

  /// Notes where the transaction stands, for ``rollback(to:)``; an earlier savepoint is of no use any more,
  /// unless this throws.
  ///
  /// Takes a copy of each changed page that is asked for from now on, so it is meant for transactions that have
  /// changed little. Stored pages that are given up from now on are used again only after the savepoint. Rows
  /// that were obtained before must not be used any more. Throws the error of a change that failed before.
  package func mark() throws(StoreError) -> Savepoint {
    precondition(isActive, "The transaction has ended; begin another one.")
    try context.checkChanges()
    var states: [(name: String, state: TableEditor.State)] = []
    for (name, editor) in unsafe tables.entries { states.append((name, try editor.settle())) }
    let roots = unsafe keyTrees.entries.map { ($0.name, $0.value.settle()) }
    context.setMark()
    return unsafe Savepoint(
      tables: states, keyTrees: roots, names: names.settle(), writtenRoots: writtenRoots,
      droppedTables: droppedTables, hasNewLayout: hasNewLayout)
  }

  /// Undoes what was changed since `savepoint`, the last one, which stays.
  ///
  /// Editors, trees and rows that were asked for before must not be used any more. A change that could not be
  /// made is undone as well; after a page that could not be written where there was room for it the transaction
  /// can only be rolled back as a whole, and this throws that error.
  package func rollback(to savepoint: Savepoint) throws(StoreError) {
    precondition(isActive, "The transaction has ended; begin another one.")
    try context.rollBackToMark()
    unsafe (tables, keyTrees) = (NameList(), NameList())
    for (name, state) in savepoint.tables {
      unsafe tables[name] = TableEditor(state, context: context)
    }
    for (name, root) in savepoint.keyTrees {
      unsafe keyTrees[name] = KeyTreeEditor(root: root, context: context)
    }
    names = Self.names(root: savepoint.names, context)
    unsafe writtenRoots = savepoint.writtenRoots
    unsafe droppedTables = savepoint.droppedTables
    unsafe hasNewLayout = savepoint.hasNewLayout
  }

  /// Whether an editor of the table was asked for.
  package func isEditing(_ table: String) -> Bool { unsafe tables[table] != nil }

  /// How many bytes changed pages take.
  package var changedByteCount: Int { unsafe context.dirty.byteCount }
}
