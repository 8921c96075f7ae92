import CambiumCore

/// Seeing what others commit.
extension ClusterStore {
  /// Reads what others have committed, if this process is not the one that writes.
  func refresh() throws(StoreError) {
    let mayDiffer = state.withLock { state in
      state.ownership == nil && !state.isPoisoned && !state.isSwapping && !state.isWriting
        && !state.isEnded
    }
    if mayDiffer { try readRoot() }
  }

  /// Takes in the root as it is now.
  func readRoot() throws(StoreError) {
    let version = try refreshing.withLock { _ throws(StoreError) -> Version? in
      let known = state.withLock { $0.header }
      guard let image = try reader.read(after: known) else { return nil }
      for commit in image.commits {
        log.add(commit.record.pages, in: commit.buffer, from: commit.pagesOffset)
      }
      return state.withLock { state in
        // This process has begun to write, and knows better.
        guard state.header == known, state.ownership == nil, !state.isPoisoned, !state.isWriting
        else { return nil }
        let isNew = state.adopt(image)
        if image.isWhole {
          // What the log does not carry any more is in its blocks.
          let first = image.commits.lazy.flatMap(\.record.pages).first.map { $0 >> 16 }
          log.removeAll(below: first ?? image.header.nextAddress)
        }
        if isNew, !state.isClosed { announce(state.newest.version) }
        return isNew ? state.newest.version : nil
      }
    }
    if let version { watchers.tell(version) }
  }
}
