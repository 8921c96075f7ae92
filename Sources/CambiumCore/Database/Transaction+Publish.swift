/// How a transaction becomes a version: all of its pages go to the store, or a few stay in memory.
extension Transaction {
  /// Writes all pages and publishes what they make.
  func publishStored(
    _ durability: Durability, _ metadata: [UInt8], _ deadRoots: inout DeadRoots.Progress
  ) throws(StoreError) -> Pin {
    try editResidentTrees()
    context.giveBackReplaced()
    try unsafe context.reserve(
      byteCount: context.dirty.byteCount + context.dirty.residentByteCount)
    try flushTrees()
    try reclaimDeadRoots(&deadRoots)
    let flushed = try names.flush()
    let root = try relocate(flushed)
    // When this fails, the next one may begin before it is known here.
    context.restoreResidentPages()
    // The next writer reads these pages, and begins before this call returns.
    return try writer.publish(
      root: root, durability: durability, metadata: metadata
    ) { [self] head in
      context.trustWritten()
      if root == flushed {
        database.tables.advance(from: base, to: head, noteTables)
      }
    }
  }

  /// Has every tree edited of which pages lie in memory, so that they are written.
  private func editResidentTrees() throws(StoreError) {
    if base.residence == nil { return }
    try catalog.forEachUnstoredTree { name, entry throws(StoreError) in
      if case .table = entry { _ = try editTable(name) } else { _ = try editKeyTree(name) }
    }
  }

  /// Publishes a small change without storing pages, where the store allows that; nil where it does not, or the
  /// change is not small enough.
  ///
  /// `isAwaited` says that somebody will wait until it is durable.
  func publishInMemory(
    _ durability: Durability, isAwaited: Bool, _ metadata: [UInt8],
    _ deadRoots: inout DeadRoots.Progress
  ) throws(StoreError) -> Pin? {
    func mayStayInMemory() -> Bool {
      context.mayStayInMemory(
        durability, isAwaited: isAwaited, metadataByteCount: metadata.count)
    }
    guard !storesPages, mayStayInMemory(), unsafe droppedTables.isEmpty,
      try DeadRoots(catalog: names, context: context).isEmpty(&deadRoots, in: base)
    else { return nil }
    for (_, editor) in unsafe tables.entries { _ = try editor.settle() }
    for (_, editor) in unsafe keyTrees.entries { _ = editor.settle() }
    for (name, editor) in unsafe tables.entries {
      try note(editor, name, roots: editor.keepRoots())
    }
    for (name, editor) in unsafe keyTrees.entries {
      try unsafe note(editor.root, keyTree: name)
    }
    try context.dirty.packChanges()
    // Rows that waited in a log may have been written, or a description that does not fit beside its name; and now it
    // is known how long a record is.
    guard mayStayInMemory() else { return nil }
    return try context.publishInMemory(
      root: names.settle(), durability: durability, metadata: metadata
    ) { [self] head in
      database.tables.advance(from: base, to: head, noteTables)
    }
  }

  /// Writes the pages of all trees that are being edited, and tells the catalog of their roots.
  func flushTrees() throws(StoreError) {
    for (name, editor) in unsafe tables.entries { try write(editor, name) }
    for (name, editor) in unsafe keyTrees.entries {
      try note(try editor.flush(), keyTree: name)
    }
  }

  /// Lists the trees that were given up, and frees some pages of those that are listed.
  private func reclaimDeadRoots(_ progress: inout DeadRoots.Progress) throws(StoreError) {
    let abandoned = context.takeAbandonedRoots()
    if abandoned.isEmpty, progress.isEmpty(in: base) { return }
    let list = DeadRoots(catalog: names, context: context)
    for root in abandoned { try list.add(root) }
    try list.reclaim(
      pageLimit: database.options.deadPagesPerCommit, &progress, base: base)
  }

  /// Moves some pages to where the store would like them; the new root of the catalog.
  private func relocate(_ root: TreeRoot) throws(StoreError) -> TreeRoot {
    let limit = database.options.relocatedByteCountPerCommit
    guard limit > 0, let relocation = writer.relocation else { return root }
    var progress = database.moves.withLock { $0 }
    let moved = try PageRelocator.move(root, context, relocation, byteLimit: limit, &progress)
    database.moves.withLock { $0 = progress }
    return moved
  }
}
