import CambiumCore

/// Comparing the books with what a version reaches, while others commit.
extension FileStore {
  /// What is in use of the file in one version.
  private struct Books: Sendable {
    var head: Head
    var space: Space
    var owned: [Extent]
    /// Why they cannot be read, if so.
    var damage: String?

    init(_ state: FileState, damage: String? = nil) {
      head = state.newest.head
      space = state.space
      owned = state.metadataPages.map(\.extent)
      self.damage = damage
    }
  }

  /// Pins the newest version, with what the free map and the records say of it.
  public func audit() throws(StoreError) -> StoreAudit {
    try withOpenState { state throws(StoreError) in
      while true {
        let books = try books(&state)
        try ensureMapping(&state)
        // Somebody else may have published a version since.
        guard state.pins.hold(books.head) else { continue }
        return StoreAudit(of: pin(books.head, state)) { [self] reachable throws(StoreError) in
          if let damage = books.damage { return [damage] }
          do throws(StoreError) {
            return try damagedMetadataPages()
              + SpaceCheck.findings(space: books.space, reachable: reachable, owned: books.owned)
          } catch {
            guard case .damaged(let damage) = error else { throw error }
            return [damage.detail]
          }
        }
      }
    }
  }

  private func books(_ state: inout FileState) throws(StoreError) -> Books {
    try followLiveHead(&state)
    do throws(StoreError) {
      guard state.isWriting else {
        try knowSpace(&state)
        return Books(state)
      }
      // What the running write has changed of the books is not published: they are read anew.
      var published = state
      published.isWriting = false
      published.spaceVersion = nil
      try knowSpace(&published)
      return Books(published)
    } catch {
      guard case .damaged(let damage) = error else { throw error }
      return Books(state, damage: damage.detail)
    }
  }

  /// A finding for each of the store's own pages in the newest version that cannot be read.
  ///
  /// A page that others have given up while it was read may hold something else by now: what is damaged
  /// is looked at again until it is so in the newest version.
  private func damagedMetadataPages() throws(StoreError) -> [String] {
    var suspects: Set<MetadataPage>?
    while true {
      let (pages, word) = try withOpenState { state throws(StoreError) in
        try knowSpace(&state)
        return (state.metadataPages.filter { suspects?.contains($0) ?? true }, state.seenLive)
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
        _ = try FreeMapDirectory.checkedPage(
          reference, rawKind: reference.rawKind, identity: sector, device: device, path: path)
        return nil
      } catch {
        guard let damage = error.damage(at: reference) else { throw error }
        return "\(damage)"
      }
    case .head(let extent, let version):
      let stored = try FileOpening.readSector(device, at: extent.byteOffset, path: path)
      let place = HeadSector.place(atByte: extent.byteOffset)
      let found = HeadSector(stored: stored, identity: sector, at: place)
      return found?.head.version == version
        ? nil : "the head of version \(version) cannot be read"
    }
  }
}

/// A page that belongs to no tree.
private enum MetadataPage: Hashable, Sendable {
  /// A part of a record or of the free map.
  case page(PageReference)
  /// The chained head of a version.
  case head(Extent, Version)

  var extent: Extent {
    switch self {
    case .page(let reference): reference.extent
    case .head(let extent, _): extent
    }
  }
}

extension FileState {
  /// The pages of the newest version that belong to no tree: records, the free map, and chained heads.
  fileprivate var metadataPages: [MetadataPage] {
    let pages =
      records.flatMap(\.parts) + directory.regions.map(\.page) + directory.waiting.map(\.reference)
      + [directory.page]
    return pages.filter { !$0.isNone }.map { .page($0) }
      + records.compactMap { record in record.head.map { .head($0, record.version) } }
  }
}
