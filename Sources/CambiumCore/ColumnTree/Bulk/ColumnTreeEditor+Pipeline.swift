extension ColumnTreeEditor {
  /// After so many leaves the pipeline has paid for being woken.
  private static let worthwhileCount = 16
  /// How often it may be cut short before it is given up.
  private static let earlyFinishLimit = 8

  /// What packs and writes the leaf under the finger if `row` is to be appended to the tree and the
  /// transaction is large; otherwise nil.
  ///
  /// Rows are appended, so that the leaf is likely done; the medium is busy before the commit.
  func pipelineForAppending(_ row: Int, to builder: LeafBuilder) -> LeafPipeline? {
    guard row > 0, unsafe row == builder.rowCount, unsafe !steps.isEmpty,
      unsafe context.dirty.byteCount >= options.writeAheadByteCount,
      unsafe earlyFinishCount < Self.earlyFinishLimit,
      unsafe isPositional ? finger.first + row == count : finger.high == .max, usesPipeline
    else { return nil }
    if let pipeline = unsafe pipeline { return pipeline }
    // One at a time: the writer of the transaction has one user.
    guard context.pipeline == nil else { return nil }
    let pipeline = LeafPipeline(editor: self)
    unsafe self.pipeline = pipeline
    context.pipeline = pipeline
    return pipeline
  }

  /// Whether leaves go to a pipeline now.
  private var usesPipeline: Bool {
    switch options.backgroundWriting {
    case .never: false
    case .whereIdle: context.lane.isIdle
    case .always: true
    }
  }

  /// Appends a row in a leaf of its own and hands the full leaf under the finger to `pipeline`.
  func handOver(
    _ leaf: DirtyLeaf, _ builder: LeafBuilder, to pipeline: LeafPipeline,
    _ values: UnsafeBufferPointer<ColumnValue>, key: Int64
  ) throws(StoreError) {
    try checkBackground()
    let overflow = try unsafe overflowCells(values)
    let step = unsafe steps[steps.count - 1]
    let holder = branch(step)
    let reference = unsafe childReference(steps.count)
    let position = unsafe root.count
    let separator = holder[step.child].separator
    let fresh = makeBuilder()
    unsafe fresh.insert(at: 0, key: key, values: values, overflow: overflow)
    unsafe root.rowCount &+= 1
    for above in unsafe steps.dropLast() { branch(above).addRows(1, at: above.child) }
    unsafe insertChild(
      Child(separator: isPositional ? 0 : key, reference: adopt(fresh), rowCount: 1),
      at: step.child + 1, depth: steps.count - 1, siblingSeparator: separator)
    unsafe self.leaf = nil
    unsafe leaf.builder = nil
    pipeline.submit(
      LeafPipeline.Job(
        builder: builder, leaf: leaf, reference: reference, branch: holder, slot: step.child))
    if isPositional {
      try reach(position: position, isNew: true)
    } else {
      try descend(key, isNew: true)
    }
  }

  /// Takes back a leaf from the pipeline: its reference, if it was written.
  func collect(_ job: LeafPipeline.Job) {
    if let stored = job.stored {
      job.branch.setReference(stored, at: job.slot)
      context.dirty.remove(job.reference)
      learn(byteCount: job.byteCount, job.builder)
      recycle(job.builder)
      unsafe spareLeaf = job.leaf
    } else {
      unsafe job.leaf.builder = job.builder
      if let error = job.error { fail(error) }
    }
  }

  /// Brings the tree up to date before something other than adding rows: merges the log, and waits
  /// for the leaves under way, if any, which what follows may touch.
  func finishPipeline() throws(StoreError) {
    if unsafe log != nil { try mergeLog() }
    if let pipeline = unsafe pipeline, pipeline.count > 0 {
      if pipeline.count < Self.worthwhileCount { unsafe earlyFinishCount += 1 }
      pipeline.finish()
    }
    try checkBackground()
  }
}

extension ColumnTreeOptions {
  /// Whether a packed leaf is to be split.
  func isOver(byteCount: Int, rowCount: Int) -> Bool {
    rowCount > maximumRowCount || byteCount > leafByteLimit && rowCount > 1
      || byteCount > leafByteCount * 5 / 4 && rowCount >= minimumRowCount * 2
  }
}
