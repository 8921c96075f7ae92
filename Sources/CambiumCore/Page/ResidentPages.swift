/// Pages of a published version that lie in memory and not in its store, by number.
///
/// A version's never change. The next version's shares with them what it has not changed, so that making it costs
/// what was changed, and a reference for each 16 pages.
///
/// Pointers: an entry names the bytes of a page that its chunk keeps, and `entries` those of chunks that `chunks`
/// keeps; numbers are held against the length of the table first.
///
/// Unchecked: all is written before the object is shared, and a page in it is frozen: nobody changes it any more.
@safe package final class ResidentPages: @unchecked Sendable {
  /// Where a page is; without bytes where there is none.
  @safe private struct Entry {
    var bytes: UnsafeRawPointer?
    var byteCount: UInt32 = 0
    var rawKind: UInt8 = 0
  }

  @safe private final class Chunk {
    let entries: UnsafeMutablePointer<Entry>
    /// Keeps the pages.
    let pages: ContiguousArray<DirtyPage?>

    /// A copy of `former`, or one without pages, in which `changes` are made.
    init(_ former: Chunk?, _ changes: ArraySlice<DirtyPages.Change>) {
      var pages =
        former?.pages ?? ContiguousArray(repeating: nil, count: ResidentPages.chunkCount)
      unsafe entries = .allocate(capacity: ResidentPages.chunkCount)
      if let former {
        unsafe entries.initialize(from: former.entries, count: ResidentPages.chunkCount)
      } else {
        unsafe entries.initialize(repeating: Entry(), count: ResidentPages.chunkCount)
      }
      for change in changes {
        let index = change.index % ResidentPages.chunkCount
        let frozen = change.page?.frozen
        pages[index] = change.page
        unsafe entries[index] = unsafe Entry(
          bytes: frozen?.bytes, byteCount: UInt32(frozen?.byteCount ?? 0),
          rawKind: change.page?.kind.rawValue ?? 0)
      }
      self.pages = pages
    }

    deinit { unsafe entries.deallocate() }
  }

  fileprivate static let chunkCount = 16

  private let chunks: ContiguousArray<Chunk?>
  /// The entries of each chunk.
  private let entries: UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>

  private init(_ chunks: ContiguousArray<Chunk?>) {
    self.chunks = chunks
    unsafe entries = .allocate(capacity: chunks.count)
    for index in chunks.indices {
      unsafe (entries + index).initialize(to: chunks[index]?.entries)
    }
  }

  deinit { unsafe entries.deallocate() }

  /// None at all.
  static let none = ResidentPages([])

  /// The page with that number, which stays as long as this object; nil when there is none of that kind.
  @inline(__always) func page(at index: Int, _ kind: PageKind) -> Page? {
    guard index < chunks.count * Self.chunkCount, index >= 0,
      let chunk = unsafe entries[index / Self.chunkCount]
    else { return nil }
    let entry = unsafe chunk[index % Self.chunkCount]
    guard let bytes = unsafe entry.bytes, entry.rawKind == kind.rawValue else { return nil }
    return unsafe Page(bytes: bytes, byteCount: Int(entry.byteCount), owner: nil)
  }

  /// All pages, by number.
  var all: [DirtyPage?] {
    chunks.flatMap { $0?.pages ?? ContiguousArray(repeating: nil, count: Self.chunkCount) }
  }

  /// The page with that number; nil when there is none.
  func dirtyPage(at index: Int) -> DirtyPage? {
    guard index >= 0, index < chunks.count * Self.chunkCount else { return nil }
    return chunks[index / Self.chunkCount]?.pages[index % Self.chunkCount]
  }

  /// Whether the pages with that number are the same one.
  func isSame(_ index: Int, _ kind: PageKind, as other: ResidentPages) -> Bool {
    guard let mine = page(at: index, kind), let theirs = other.page(at: index, kind) else {
      return false
    }
    return unsafe mine.bytes == theirs.bytes
  }

  /// The same with other pages, or none, at some numbers, which ascend.
  func replacing(_ changes: [DirtyPages.Change]) -> ResidentPages {
    var chunks = chunks
    var start = 0
    while start < changes.count {
      let number = changes[start].index / Self.chunkCount
      var end = start + 1
      while end < changes.count, changes[end].index / Self.chunkCount == number { end += 1 }
      if number >= chunks.count {
        chunks += repeatElement(nil, count: number + 1 - chunks.count)
      }
      chunks[number] = Chunk(chunks[number], changes[start..<end])
      start = end
    }
    return ResidentPages(chunks)
  }
}
