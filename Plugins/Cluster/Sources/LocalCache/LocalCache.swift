import CambiumCore
import Synchronization

/// Pages of a cluster on a local disk, where they are found again after a restart, and when there are more than
/// memory holds.
///
/// Pages gather in memory to segments, which are written one after the other, from the beginning again when
/// the file has its size: the oldest segment goes. No page is ever old, because no address in a cluster is used
/// twice. What the file says is believed when it matches the checksum that the reader brings; what does not,
/// or cannot be read, comes from the cluster. A file that cannot be written is left alone. It may be deleted
/// while nobody has it open, and holds nothing that is not in the cluster.
///
/// Thread-safe.
///
/// Pointers: a segment is memory of its own, and pages are copied into it and out of it within its bounds.
final class LocalCache: Sendable {
  private typealias Format = LocalCacheFormat

  /// Where a page lies.
  private struct Place: Equatable {
    var segment: Int
    var offset: Int
  }

  /// A segment that is in memory.
  private struct Segment: Sendable {
    let number: Int
    let buffer: PageBuffer
    var directory: Format.Directory
    var end = Format.directoryByteCount

    init(_ number: Int, sequence: UInt64) {
      self.number = number
      buffer = PageBuffer(byteCount: Format.segmentByteCount)
      directory = Format.Directory(sequence: sequence)
    }

    /// The one that was written last, if much of it is free; nil when it is not, or cannot be read.
    init?(going number: Int, _ directory: Format.Directory, on file: LocalFile) {
      self.init(number, sequence: directory.sequence &+ 1)
      let ends = directory.entries.map {
        $0.offset + Int($0.location & 0xffff) * Extent.unitByteCount
      }
      end = ends.max() ?? end
      self.directory.entries = directory.entries
      let pages = unsafe UnsafeMutableRawBufferPointer(start: buffer.bytes, count: end)
      guard end < Format.segmentByteCount / 2,
        unsafe file.read(pages, at: Format.offset(ofSegment: number))
      else { return nil }
    }
  }

  private struct State: Sendable {
    var places: [UInt64: Place] = [:]
    /// The locations in each segment.
    var contents: [[UInt64]]
    /// Takes what comes in.
    var filling: Segment
    /// Is being written.
    var writing: Segment?
    /// Whether nothing is kept any more: the file cannot be written, or was closed.
    var isOver = false
  }

  private let file: LocalFile
  private let state: Mutex<State>
  private let job: BackgroundJob

  /// The file at `path` for pages of the store `uuid`, which grows up to about `byteCount` bytes; nil when
  /// somebody else has it.
  ///
  /// What it holds of another store, or what is damaged, is dropped. Throws
  /// `StoreError.system(operation:path:code:)` when there is none and none can be made, and
  /// `StoreError.notAStore(path:reason:)` for a file of something else, which stays as it is. So does one that
  /// cannot be read, which keeps nothing.
  init?(
    path: String, byteCount: Int, uuid: (UInt64, UInt64), lane: BackgroundLane
  ) throws(StoreError) {
    guard let file = try LocalFile.at(path) else { return nil }
    self.file = file
    job = BackgroundJob(lane)
    let count = max(2, byteCount / Format.segmentByteCount)
    let header = Format.header(uuid)
    var state = State(
      contents: [[UInt64]](repeating: [], count: count), filling: Segment(0, sequence: 1))
    let end = file.byteCount
    let found = Self.bytes(of: file, 0..<min(header.count, end))
    if let found, !Format.isOurs(found, ofFileWith: end) {
      throw .notAStore(
        path: path,
        reason: "it is no file of cached pages; delete it, or name another path for the cache")
    }
    if found == header {
      Self.load(file, &state)
      _ = file.cut(to: Format.offset(ofSegment: count))
    } else {
      let isMade = unsafe header.withUnsafeBytes { header in
        unsafe found != nil && file.cut(to: 0) && file.write(header, at: 0) && file.sync()
      }
      if !isMade { state.isOver = true }
    }
    self.state = Mutex(state)
  }

  private static func bytes(of file: LocalFile, _ range: Range<Int>) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: range.count)
    let isRead = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe file.read(buffer, at: range.lowerBound)
    }
    return isRead ? bytes : nil
  }

  /// Finds out what lies in the file, and goes on behind what was written last.
  private static func load(_ file: LocalFile, _ state: inout State) {
    var (last, next) = (UInt64(0), 0)
    var found: [(number: Int, directory: Format.Directory)] = []
    let end = file.byteCount
    for number in state.contents.indices where Format.offset(ofSegment: number) < end {
      let start = Format.offset(ofSegment: number)
      guard let bytes = bytes(of: file, start..<start + Format.directoryByteCount),
        let directory = Format.Directory(bytes)
      else { continue }
      found.append((number, directory))
      if directory.sequence > last { (last, next) = (directory.sequence, number + 1) }
    }
    for (number, directory) in found.sorted(by: { $0.directory.sequence < $1.directory.sequence }) {
      for entry in directory.entries {
        state.places[entry.location] = Place(segment: number, offset: entry.offset)
      }
      state.contents[number] = directory.entries.map(\.location)
    }
    if let latest = found.first(where: { $0.directory.sequence == last }),
      let segment = Segment(going: latest.number, latest.directory, on: file)
    {
      state.filling = segment
    } else {
      begin(next % state.contents.count, sequence: last &+ 1, &state)
    }
  }

  /// Lets a segment take what comes in; what the file has there goes.
  private static func begin(_ number: Int, sequence: UInt64, _ state: inout State) {
    for location in state.contents[number] where state.places[location]?.segment == number {
      state.places[location] = nil
    }
    state.contents[number] = []
    state.filling = Segment(number, sequence: sequence)
  }

  // MARK: Reading

  /// Whether a page is likely there.
  func contains(_ location: UInt64) -> Bool { state.withLock { $0.places[location] != nil } }

  /// The stored bytes of a page; nil when they are not there, or not right.
  func page(_ reference: PageReference) -> PageBuffer? {
    let location = reference.location
    let found = state.withLock { state -> (place: Place, memory: PageBuffer?)? in
      guard let place = state.places[location] else { return nil }
      let segment = [state.filling, state.writing].lazy.compactMap { $0 }
        .first { $0.number == place.segment }
      return (place, segment?.buffer)
    }
    guard let (place, memory) = found else { return nil }
    let buffer = unsafe PageBuffer(uninitialized: reference.byteCount)
    var isRead = true
    if let memory {
      // What lies before the end of a segment does not change.
      unsafe buffer.bytes.copyMemory(
        from: memory.bytes + place.offset, byteCount: reference.byteCount)
    } else {
      isRead = unsafe file.read(
        UnsafeMutableRawBufferPointer(start: buffer.bytes, count: reference.byteCount),
        at: Format.offset(ofSegment: place.segment) + place.offset)
    }
    let isRight =
      unsafe isRead
      && Checksum.hash(UnsafeRawPointer(buffer.bytes), reference.byteCount) == reference.checksum
    if isRight { return buffer }
    // Something else was written there meanwhile, or by somebody else.
    state.withLock { if $0.places[location] == place { $0.places[location] = nil } }
    return nil
  }

  // MARK: Writing

  /// Keeps a page that came from the cluster, unless pages come faster than they can be written.
  func insert(_ page: Page, at location: UInt64) {
    let byteCount = Int(location & 0xffff) * Extent.unitByteCount
    let isFull = state.withLock { state in
      if state.isOver || state.places[location] != nil || page.byteCount < byteCount {
        return false
      }
      let room = Format.segmentByteCount - state.filling.end
      if byteCount > room || state.filling.directory.entries.count == Format.entryLimit {
        guard state.writing == nil, byteCount <= Format.segmentByteCount / 4 else { return false }
        let full = state.filling
        state.writing = full
        Self.begin(
          (full.number + 1) % state.contents.count, sequence: full.directory.sequence &+ 1, &state)
      }
      let isNewlyFull = state.filling.end == Format.directoryByteCount && state.writing != nil
      let offset = state.filling.end
      unsafe (state.filling.buffer.bytes + offset).copyMemory(
        from: page.bytes, byteCount: byteCount)
      state.filling.end += byteCount
      state.filling.directory.entries.append((location, offset))
      state.contents[state.filling.number].append(location)
      state.places[location] = Place(segment: state.filling.number, offset: offset)
      return isNewlyFull
    }
    withExtendedLifetime(page) {}
    if isFull {
      job.schedule { [weak self] _ in
        self?.writeFull()
        return nil
      }
    }
  }

  /// Writes the segment that is full.
  private func writeFull() {
    guard let full = state.withLock({ $0.writing }) else { return }
    let isWritten = write(full)
    state.withLock { state in
      state.writing = nil
      if !isWritten { (state.isOver, state.places) = (true, [:]) }
    }
  }

  private func write(_ segment: Segment) -> Bool {
    let start = Format.offset(ofSegment: segment.number)
    let first = Format.directoryByteCount
    let pages = unsafe UnsafeRawBufferPointer(
      start: segment.buffer.bytes + first, count: segment.end - first)
    let isWritten = unsafe file.write(pages, at: start + first)
    return unsafe isWritten
      && segment.directory.bytes.withUnsafeBytes { unsafe file.write($0, at: start) }
  }

  /// Writes what has gathered, keeps nothing more, and lets others have the file; pages that are there can
  /// still be read.
  func close() {
    job.cancel()
    writeFull()
    let rest = state.withLock { state -> Segment? in
      if state.isOver { return nil }
      state.isOver = true
      return state.filling.directory.entries.isEmpty ? nil : state.filling
    }
    if let rest { _ = write(rest) }
    file.unlock()
  }
}
