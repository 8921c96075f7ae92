/// Changes of a transaction that can be undone without those before them.
extension Transaction {
  /// Where a transaction stood.
  package struct Savepoint {
    fileprivate let tables: NameList<TableEditor.Parked>
    fileprivate let keyTrees: NameList<TreeRoot>
    fileprivate let names: TreeRoot
    fileprivate let writtenRoots: [ExactName: TreeRoot]
    fileprivate let droppedTables: [ExactName]
    fileprivate let hasNewLayout: Bool
  }

  /// Notes where the transaction stands, for ``rollback(to:)``; an earlier savepoint is of no use any more.
  ///
  /// Takes a copy of each changed page that is asked for from now on, so it is meant for transactions that have
  /// changed little. Editors, trees and rows that were asked for before must not be used any more. Throws the
  /// error of a change that failed before.
  package func mark() throws(StoreError) -> Savepoint {
    precondition(isActive, "The transaction has ended; begin another one.")
    try context.checkChanges()
    for (name, editor) in unsafe tables.entries { unsafe parkedTables[name] = try editor.park() }
    for (name, editor) in unsafe keyTrees.entries {
      unsafe parkedKeyTrees[name] = editor.park()
    }
    unsafe (tables, keyTrees) = (NameList(), NameList())
    context.setMark()
    return unsafe Savepoint(
      tables: parkedTables, keyTrees: parkedKeyTrees, names: names.park(),
      writtenRoots: writtenRoots, droppedTables: droppedTables, hasNewLayout: hasNewLayout)
  }

  /// Undoes what was changed since `savepoint`, the last one; the transaction goes on, without a savepoint.
  ///
  /// Editors, trees and rows that were asked for since must not be used any more. After a change that has failed
  /// the transaction can only be rolled back as a whole: this throws its error.
  package func rollback(to savepoint: Savepoint) throws(StoreError) {
    precondition(isActive, "The transaction has ended; begin another one.")
    try context.checkChanges()
    unsafe (tables, keyTrees) = (NameList(), NameList())
    unsafe (parkedTables, parkedKeyTrees) = (savepoint.tables, savepoint.keyTrees)
    context.rollBackToMark()
    names = KeyTreeEditor(root: savepoint.names, context: context)
    unsafe writtenRoots = savepoint.writtenRoots
    unsafe droppedTables = savepoint.droppedTables
    unsafe hasNewLayout = savepoint.hasNewLayout
  }

  /// How many bytes changed pages take.
  package var changedByteCount: Int { unsafe context.dirty.byteCount }
}
