import CambiumCore

/// Blocks that share a transaction: each follows those before it, and can be undone without them.
extension WriteSession {
  /// What is known of them.
  struct Group {
    /// Where the last block has ended; nil in the first one.
    fileprivate var savepoint: Transaction.Savepoint?
    /// What was touched up to there.
    fileprivate var touches: TransactionTouches?
    /// How often keys were used before what was undone last, by class.
    fileprivate(set) var uses: [Int: ClassEditor.KeyUses] = [:]
  }

  /// Lets blocks share the transaction, until it ends.
  func beginGroup() { unsafe group = Group() }

  /// Whether there is room for one more block: with much in it a savepoint takes as long as a commit.
  var hasRoom: Bool { transaction.changedByteCount < 2 << 20 }

  /// Ends a block: what follows can be undone alone.
  ///
  /// Throws what has failed in it.
  func mark() throws(StoreError) {
    settle()
    if let failure = unsafe failure { throw failure }
    unsafe group?.savepoint = try transaction.mark()
    unsafe group?.touches = unsafe touches
  }

  /// Undoes what was changed since ``mark()``, which stays; throws, and changes nothing, when that cannot be
  /// done.
  ///
  /// No object gets the ``Incarnation`` of one that is undone.
  func rollBackToMark() throws(StoreError) {
    guard let savepoint = unsafe group?.savepoint else { return }
    try transaction.rollback(to: savepoint)
    let edited = keyUses
    for (access, uses) in edited {
      unsafe group?.uses[access.index] = uses
      unsafe group?.uses[access.index]?.ofAll += 1
    }
    unsafe touches = unsafe group?.touches
    forgetEditors()
    // What this transaction has made is known by its editor; the tables' are there, so that nothing is read.
    for (access, _) in edited where transaction.isEditing(access.stored.tableName) {
      _ = try editor(access)
    }
  }
}
