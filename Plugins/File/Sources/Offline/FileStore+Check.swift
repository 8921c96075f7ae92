import CambiumCore
import CambiumStoreKit

/// Comparing the books with what a version reaches, while others commit.
extension FileStore {
  /// Pins the newest version, with what the free map and the records say of it.
  public func audit() throws(StoreError) -> StoreAudit {
    while true {
      let (head, audit, damage) = try bookkeeping()
      let held = try withOpenState { state throws(StoreError) -> Pin? in
        try ensureMapping(&state)
        // Somebody else may have published a version since.
        guard state.newestHead == head, state.pins.hold(head, whileLive: state.seenLive) else {
          return nil
        }
        return pin(head, state)
      }
      guard let held else { continue }
      return StoreAudit(of: held) { [self] reachable throws(StoreError) in
        guard let audit else { return damage.map { [$0] } ?? [] }
        do throws(StoreError) {
          return try damagedMetadataPages() + audit.findings(reachable: reachable)
        } catch {
          guard case .damaged(let damage) = error else { throw error }
          return [damage.detail]
        }
      }
    }
  }

  /// The newest version with what is in use of the file in it, or with why that cannot be read; neither for a
  /// file of an older format, whose map is made anew before anybody writes.
  private func bookkeeping() throws(StoreError) -> (Head, SpaceAudit?, damage: String?) {
    do throws(StoreError) {
      return try withPublishedBooks { books, head throws(StoreError) in
        if books.isOfOlderFormat { return (head, nil, nil) }
        // Later its pages may hold something else.
        try books.space.blocks.load(blocks: 0..<books.space.blocks.blockCount)
        // What the version of the file reaches that the newest one follows, and that does not.
        let replaced = head.residence?.freedReferences.map(\.extent) ?? []
        let audit = SpaceAudit(
          books.space.copy(), owned: try metadataPages(&books).map(\.extent) + replaced)
        books.space.blocks.dropUnchanged()
        return (head, audit, nil)
      }
    } catch {
      guard case .damaged(let damage) = error else { throw error }
      return (try newestHead(), nil, damage.detail)
    }
  }

  /// Runs `body` with the books of the newest version; what a running write has changed of them is not
  /// published, and they are read anew then.
  private func withPublishedBooks<Value>(
    _ body: (inout FileBooks, Head) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try withKnownBooks { books throws(StoreError) in
      let (newest, hasWriter, mark, seenSlots) = state.withLock {
        ($0.newestHead, $0.hasWriter, $0.mark, $0.seenSlots)
      }
      guard hasWriter else { return try body(&books, newest) }
      var published = FileBooks(
        firstBlock: sector.firstBlock, mark: mark, seenDurable: seenSlots)
      try catchUp(&published)
      return try body(&published, newest)
    }
  }

  /// A finding for each of the store's own pages in the newest version that cannot be read.
  ///
  /// A page that others have given up while it was read may hold something else by now: what is damaged
  /// is looked at again until it is so in the newest version.
  private func damagedMetadataPages() throws(StoreError) -> [String] {
    var suspects: Set<MetadataPage>?
    while true {
      let (pages, word) = try withPublishedBooks { books, _ throws(StoreError) in
        let pages = try metadataPages(&books)
        return (pages.filter { suspects?.contains($0) ?? true }, memory.liveWord)
      }
      var findings: [MetadataPage: String] = [:]
      for page in pages { findings[page] = try finding(page) }
      if findings.isEmpty || memory.liveWord == word { return pages.compactMap { findings[$0] } }
      suspects = Set(findings.keys)
    }
  }

  /// What is wrong with a page; nil for nothing.
  private func finding(_ page: MetadataPage) throws(StoreError) -> String? {
    switch page {
    case .page(let reference):
      do throws(StoreError) {
        _ = try mapPages.checked(reference, rawKind: reference.rawKind)
        return nil
      } catch {
        guard let damage = error.damage(at: reference) else { throw error }
        return "\(damage)"
      }
    case .room: return nil
    }
  }

  /// The pages of the newest version that belong to no tree: records, the free map, and the log.
  private func metadataPages(_ books: inout FileBooks) throws(StoreError) -> [MetadataPage] {
    var references = books.records.flatMap(\.parts)
    references += books.directory.waiting.map(\.reference) + [books.directory.page]
    let map = mapPages
    try books.space.blocks.forEachStoredPart { part, level in
      references.append(map.reference(part, level: level))
    }
    return references.filter { !$0.isNone }.map { .page($0) }
      + (books.records.compactMap(\.head) + (state.withLock { $0.newest.log }.map { [$0] } ?? []))
      .map { .room($0) }
  }
}

/// A page that belongs to no tree.
private enum MetadataPage: Hashable, Sendable {
  /// A part of a record or of the free map.
  case page(PageReference)
  /// Room of which no content is needed: the log of small commits, which is read when the file is opened, or a head
  /// that others have replaced.
  case room(Extent)

  var extent: Extent {
    switch self {
    case .page(let reference): reference.extent
    case .room(let extent): extent
    }
  }
}
