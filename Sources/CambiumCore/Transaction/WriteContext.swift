/// What the trees of one write transaction share: pages to read, dirty pages, and the way out.
public final class WriteContext {
  /// Reads committed and dirty pages alike.
  public let source: PageSource
  /// The transaction's private pages.
  public let dirty: DirtyPages
  /// The version being made; pages written now are born in it.
  public let version: Version
  private let writer: any PageWriter
  private let codec: (any PageCodec)?
  private let store: StoreIdentity
  private var padded: [UInt8] = []
  /// Whole trees that the new version no longer reaches; the transaction puts them on the catalog's
  /// list of dead roots, whose pages are freed with bounded work per commit.
  public private(set) var abandonedRoots: [TreeRoot] = []

  init(
    source: PageSource, writer: any PageWriter, codec: (any PageCodec)?, store: StoreIdentity
  ) {
    self.source = source
    self.writer = writer
    self.codec = codec
    self.store = store
    dirty = DirtyPages()
    version = writer.version
    source.dirty = dirty
  }

  /// Takes back a page that the new version does not reach: a committed one goes to the store, a
  /// dirty one is forgotten.
  public func free(_ reference: PageReference) {
    if reference.isNone { return }
    if reference.isDirty { dirty.remove(reference) } else { writer.free(reference) }
  }

  /// Gives up a whole stored tree; its pages are freed by later commits.
  public func abandon(root: TreeRoot) {
    precondition(!root.reference.isDirty, "Only a stored tree can be abandoned; remove its rows.")
    if !root.isEmpty { abandonedRoots.append(root) }
  }

  /// Forgets the abandoned roots, which the catalog now lists.
  func takeAbandonedRoots() -> [TreeRoot] {
    defer { abandonedRoots = [] }
    return abandonedRoots
  }

  /// Writes a packed page and returns its reference.
  ///
  /// The bytes go through the codec, are padded to whole units and hashed. References inside of
  /// them must already be stored ones.
  public func write(
    _ bytes: UnsafeRawBufferPointer, kind: PageKind
  ) throws(StoreError) -> PageReference {
    precondition(!bytes.isEmpty, "A page has at least one byte.")
    if let codec {
      var body = try codec.encode(bytes, kind: kind)
      let extent = try writer.allocate(byteCount: body.count)
      let context = PageContext(
        storeHigh: store.uuid.0, storeLow: store.uuid.1, kind: kind, address: extent.address,
        born: version)
      try codec.seal(&body, context: context)
      return try store(body: body, to: extent, kind: kind)
    }
    let extent = try writer.allocate(byteCount: bytes.count)
    if bytes.count == extent.byteCount {
      let checksum = Checksum.hash(bytes)
      try writer.write(bytes, to: extent)
      return PageReference(checksum: checksum, extent: extent, kind: kind, born: version)
    }
    padded.removeAll(keepingCapacity: true)
    padded.append(contentsOf: bytes)
    return try store(body: padded, to: extent, kind: kind)
  }

  /// Says that about `byteCount` bytes of pages will be written next.
  func reserve(byteCount: Int) throws(StoreError) { try writer.reserve(byteCount: byteCount) }

  private func store(
    body: [UInt8], to extent: Extent, kind: PageKind
  ) throws(StoreError) -> PageReference {
    var body = body
    body.append(contentsOf: repeatElement(0, count: extent.byteCount - body.count))
    let result = body.withUnsafeBytes { bytes -> Result<UInt64, StoreError> in
      do throws(StoreError) {
        try writer.write(bytes, to: extent)
        return .success(Checksum.hash(bytes))
      } catch {
        return .failure(error)
      }
    }
    return PageReference(checksum: try result.get(), extent: extent, kind: kind, born: version)
  }
}
