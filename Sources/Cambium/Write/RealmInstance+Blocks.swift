import CambiumCore

/// Blocks that share a transaction.
extension RealmInstance {
  /// Undoes what the last block has changed; throws, and changes nothing, when only all of them can be undone.
  func undoBlock() throws(StoreError) {
    try unsafe session?.rollBackToMark()
    moved()
  }

  /// Stops in a block that shares its transaction; `reason` says why it cannot do what it was about to.
  func stopInGroup(_ reason: String) {
    if unsafe session?.group == nil { return }
    fatalError("A write with 'allowGrouping' shares its transaction with others. \(reason)")
  }

  /// The same where the block would end the transaction.
  func stopEndInGroup() {
    stopInGroup("It ends with its closure: return to keep the changes, throw to undo them.")
  }
}
