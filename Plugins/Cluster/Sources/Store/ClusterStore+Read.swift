import CambiumCore
import Synchronization

/// Reading pages from where they are: this process, the log, a local disk, or a block.
///
/// Pointers: a page lies in a buffer that is its owner, whole: the buffer's length is compared first.
extension ClusterStore {
  /// The stored bytes of the page at `reference`.
  ///
  /// Pages of pins can also be read when the store has been closed. Throws
  /// `StoreError.unreachable(path:operation:reason:)` when the cluster does not answer in time,
  /// `StoreError.versionGone(_:)` when this process was cut off for so long that the version went, and
  /// `StoreError.damaged(_:)` when there is no such page.
  public func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    if isForked { throw .forked(path: path) }
    if let page = gathered.page(reference.location) { return page }
    guard reference.unitCount > 0, !reference.isDirty else {
      throw .damaged(Damage(.reference, at: reference, "an empty reference"))
    }
    if let page = log.page(reference.location) { return page }
    if let page = readableCache?.page(reference) { return page.page }
    let page: Page
    if let arrived = arrived(reference) {
      page = arrived
    } else {
      page = try readBlocks(reference, at: pin)
    }
    if mayHaveGap(page, reference), page.withBytes({ Checksum.hash($0) }) != reference.checksum,
      let gone = versionGone(pin)
    {
      throw gone
    }
    localCache?.insert(page, at: reference.location)
    return page
  }

  /// Whether a part of the page may be missing in its block: a write that comes late can bring a block back that
  /// was removed, with gaps in it.
  ///
  /// A write covers a page's part of a block as a whole, so that a gap begins where the part does; no page begins
  /// with eight zeros, and hardly a second part.
  private func mayHaveGap(_ page: Page, _ reference: PageReference) -> Bool {
    var offset = 0
    var isZero = false
    page.withBytes { bytes in
      layout.forEachPart(of: reference.extent) { part in
        isZero = isZero || bytes.extracting(offset..<offset + 8).isZero
        offset += part.byteCount
      }
    }
    return isZero
  }

  /// The pages on a local disk, unless the cluster's are to be proved.
  private var readableCache: LocalCache? {
    localCache.flatMap { auditCount.load(ordering: .relaxed) == 0 ? $0 : nil }
  }

  /// The page, if it was announced and has come or will come.
  private func arrived(_ reference: PageReference) -> Page? {
    guard let arrival = arrivals.take(reference.location), let first = bytes(of: arrival.first)
    else { return nil }
    if arrival.rest.isEmpty { return first }
    let rest = arrival.rest.compactMap { bytes(of: $0) }
    return rest.count == arrival.rest.count ? joined([first] + rest, reference.byteCount) : nil
  }

  /// The bytes of a piece of a page, once they have come; nil when they did not.
  ///
  /// What went wrong is found out again by reading the page itself.
  private func bytes(of piece: PageArrivals.Piece) -> Page? {
    storage.wait(for: piece.read.call)
    guard case .success(.bytes(let buffers)) = piece.read.call.result, let buffer = buffers.first,
      buffer.byteCount >= piece.offset + piece.byteCount
    else { return nil }
    return unsafe Page(
      bytes: buffer.bytes + piece.offset, byteCount: piece.byteCount, owner: buffer)
  }

  /// A page of so many bytes, of its pieces.
  private func joined(_ pieces: [Page], _ byteCount: Int) -> Page {
    let whole = PageBuffer(byteCount: byteCount)
    var offset = 0
    for piece in pieces {
      precondition(
        piece.byteCount <= byteCount - offset, "The pieces of a page are longer than the page.")
      unsafe (whole.bytes + offset).copyMemory(from: piece.bytes, byteCount: piece.byteCount)
      withExtendedLifetime(piece) {}
      offset += piece.byteCount
    }
    return whole.page
  }

  private func readBlocks(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    let parts = layout.parts(of: reference.extent)
    let requests = parts.map { part in
      ObjectRequest.read(
        name: names.block(part.block),
        ranges: [part.byteOffset..<part.byteOffset + part.byteCount])
    }
    var buffers: [PageBuffer] = []
    for (answer, part) in zip(try client.ask(requests, "read a page of"), parts) {
      guard case .bytes(let found)? = answer, let buffer = found.first,
        buffer.byteCount == part.byteCount
      else {
        throw versionGone(pin)
          ?? .damaged(Damage(.reference, at: reference, "there is no such page"))
      }
      buffers.append(buffer)
    }
    return buffers.count == 1
      ? buffers[0].page : joined(buffers.map(\.page), reference.byteCount)
  }

  /// What to throw when the pages of the version that `pin` holds may have been removed; nil when they have not.
  private func versionGone(_ pin: Pin) -> StoreError? {
    let known = state.withLock { $0.header }
    guard let root = try? reader.read(after: nil)?.header else { return nil }
    // The floor is raised before blocks are removed, and a new owner removes what its predecessor has
    // written for versions that never came into the root.
    let wasLost = pin.head.version > known.newestVersion && root.token.epoch != known.token.epoch
    let isGone = wasLost || root.floor > min(pin.head.version, known.newestVersion)
    return isGone ? .versionGone(pin.head.version) : nil
  }

  /// How many pages are asked for ahead.
  public var readAheadCount: Int { options.readAheadCount }

  /// Asks for pages that are not here, those that lie together with one operation.
  public func prefetch(_ references: [PageReference], at pin: Pin) {
    if isForked { return }
    let missing = references.filter { reference in
      reference.unitCount > 0 && !reference.isDirty && gathered.page(reference.location) == nil
        && log.page(reference.location) == nil
        && !(readableCache?.contains(reference.location) ?? false)
    }
    for read in arrivals.expect(missing, layout) {
      storage.start(
        .read(name: names.block(read.block), ranges: [read.range]), read.call)
    }
  }
}

extension Span<UInt8> {
  fileprivate var isZero: Bool { indices.allSatisfy { self[$0] == 0 } }
}
