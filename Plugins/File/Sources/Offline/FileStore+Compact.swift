import CambiumCore

/// What a compaction did.
public struct CompactionReport: Hashable, Sendable {
  /// The size of the file before, in bytes.
  public var byteCountBefore: Int
  /// The size of the compacted file, in bytes.
  public var byteCountAfter: Int
  /// Whether the medium had no room for a copy, so that pages were moved within the file.
  public var wasInPlace = false
}

extension FileStore {
  /// Rewrites the store at `path` as small as it can be.
  ///
  /// The newest version is copied into a new file beside the old one, which then takes its place in
  /// one rename that survives power loss; with `output` the copy goes there instead and the original
  /// is only read. `progress` is called before the new file is made, and then now and then, with the number
  /// of rows copied.
  ///
  /// Where the medium has no room for a new file, pages are moved to free room further to the front, and the end is
  /// cut off: a sixteenth of the file may stay free, and pages that are half empty stay so. Each step is a durable
  /// commit, so that the file is whole whatever happens. That is not done with `output` or `recoding`.
  ///
  /// Pages come through `codec` and go through the same again, or through what `recoding` makes of the
  /// old store's database: another codec, or nil for none. The same codec keeps its dictionary and
  /// makes its salt anew.
  ///
  /// Throws `StoreError.inUse(path:holder:)` when somebody has the store open or compacts it, and
  /// `StoreError.system(operation:path:code:)` when `output` exists. On every error the original is
  /// as it was and no new file is left behind.
  public static func compact(
    path: String, output: String? = nil, codec: (any PageCodec)? = nil,
    progress: (Int) -> Void = { _ in },
    recoding: ((Database) throws(StoreError) -> (any PageCodec)?)? = nil
  ) throws(StoreError) -> CompactionReport {
    try compact(
      path: path, output: output, codec: codec,
      makingDraft: { make throws(StoreError) in
        progress(0)
        try make()
      },
      progressOfAll: { rows, _ in progress(rows) }, recoding: recoding)
  }

  /// Lets whoever looks after a new file, and its lock file, have them made by `make`: all at once, and nothing
  /// is made behind that.
  package typealias DraftMaking = (
    _ make: () throws(StoreError) -> Void
  ) throws(StoreError) -> Void

  /// The same; the new file is made by `makingDraft`, and `progressOfAll` is given the number of all rows, too.
  package static func compact(
    path: String, output: String?, codec: (any PageCodec)?, makingDraft: DraftMaking,
    progressOfAll progress: (_ rows: Int, _ all: Int) -> Void,
    recoding: ((Database) throws(StoreError) -> (any PageCodec)?)?
  ) throws(StoreError) -> CompactionReport {
    if let output, case .missing = PosixFiles.kind(of: output) {
    } else if let output {
      throw .system(operation: "create", path: output, code: PosixFiles.exists)
    }
    let target = PosixFiles.resolved(path)
    guard let output else {
      // Nobody else touches the draft, and what a killed compaction left of one is nobody's.
      let held = try FilePaths.openExclusively(
        target, named: path, for: "compact", locking: [SharedLayout.DataByte.compaction])
      guard let (lock, _) = held else { throw .notFound(path: path) }
      defer { withExtendedLifetime(lock) {} }
      let draft = target + ".compacting"
      do throws(StoreError) {
        return try compact(
          target, draft: draft, for: path, codec, recoding, makingDraft, progress
        ) { head throws(StoreError) in
          try replace(path: target, with: draft, expecting: head, codec: codec)
        }
      } catch .mediumFull where recoding == nil {
        return try compactInPlace(path: target, codec: codec)
      }
    }
    let draft = "\(output).compacting-\(PosixFiles.processNumber)-\(UInt32.random(in: 0 ... .max))"
    return try compact(
      target, draft: draft, for: output, codec, recoding, makingDraft, progress
    ) { _ throws(StoreError) in
      guard try name(draft: draft, as: output) else {
        throw .system(operation: "create", path: output, code: PosixFiles.exists)
      }
      PosixFiles.remove(SharedMemory.path(for: draft))
    }
  }

  /// Copies the store at `path` to `draft`, which `finish` makes what is to be at `destination`.
  private static func compact(
    _ path: String, draft: String, for destination: String, _ codec: (any PageCodec)?,
    _ recoding: ((Database) throws(StoreError) -> (any PageCodec)?)?,
    _ makingDraft: DraftMaking, _ progress: (_ rows: Int, _ all: Int) -> Void,
    _ finish: (_ head: Head) throws(StoreError) -> Void
  ) throws(StoreError) -> CompactionReport {
    let lockPath = SharedMemory.path(for: draft)
    func clear() {
      PosixFiles.remove(draft)
      PosixFiles.remove(lockPath)
    }
    clear()
    // Once it is what was asked for, another compaction may have begun one of that name.
    var isFinished = false
    defer { if !isFinished { clear() } }
    func makeDraft() throws(StoreError) {
      switch PosixFiles.open(draft, .create) {
      case .success(let descriptor):
        let device = PosixDevice(descriptor: descriptor)
        PosixFiles.shareRights(of: path, with: device.descriptor)
      case .failure(let error):
        if error.code == PosixFiles.missing { throw .parentNotFound(path: destination) }
        throw StoreError(DeviceError(operation: "create", code: error.code), path: destination)
      }
    }
    let (head, before) = try copy(path: path, codec, recoding, progress) {
      options throws(StoreError) in
      var made: FileStore?
      try makingDraft { () throws(StoreError) in
        try makeDraft()
        made = try FileStore(path: draft, options: options)
      }
      guard let made else { throw .notFound(path: draft) }
      return made
    }
    let after = try inspect(path: draft).fileByteCount
    try finish(head)
    isFinished = true
    return CompactionReport(byteCountBefore: before, byteCountAfter: after)
  }

  /// Copies the newest version of the store at `path` into the one that `makeDraft` makes; returns its head and
  /// the file's size.
  private static func copy(
    path: String, _ codec: (any PageCodec)?,
    _ recoding: ((Database) throws(StoreError) -> (any PageCodec)?)?,
    _ progress: (_ rows: Int, _ all: Int) -> Void,
    _ makeDraft: (FileStoreOptions) throws(StoreError) -> FileStore
  ) throws(StoreError) -> (Head, Int) {
    let source = try FileStore(
      path: path, options: FileStoreOptions(isReadOnly: true, codec: codec))
    let before = try inspect(path: path).fileByteCount
    let database = try Database(store: source)
    var options = FileStoreOptions()
    if let recoding {
      options.codec = try recoding(database)
    } else {
      options.codec = source.boundCodec
    }
    // The copy should end where its content ends.
    options.growthByteCount = 64 << 10
    let copy = try Database(store: makeDraft(options))
    let head = try source.newestHead()
    let count = try database.snapshot().rowCount()
    try database.copy(to: copy) { progress($0, count) }
    try copy.close()
    try database.close()
    return (head, before)
  }
}

extension FileStore {
  /// Makes the store at `path` shorter without a copy.
  private static func compactInPlace(
    path: String, codec: (any PageCodec)?
  ) throws(StoreError) -> CompactionReport {
    let before = try inspect(path: path).fileByteCount
    var options = FileStoreOptions(codec: codec)
    options.storesUnasked = false
    options.movesEagerly = true
    options.leastRelocatedByteCount = 0
    options.largestSlackByteCount = 64 << 10
    // The free map and the records move when it is brought up to date.
    options.checkpointAfterRecordCount = 2
    let store = try FileStore(path: path, options: options)
    guard store.becomeAlone() else {
      throw .inUse(path: path, holder: FilePaths.holder(path: path, besides: store.slot))
    }
    var limits = DatabaseOptions()
    let movedByteCount = 1 << 20
    // What a commit has moved or given up is free some commits later.
    let idleLimit = 16
    limits.relocatedByteCountPerCommit = movedByteCount
    let database = try Database(store: store, options: limits)
    do throws(StoreError) {
      var (end, idleCount) = (Int.max, 0)
      // As many as move all pages several times, should each look find some that can be moved.
      for _ in 0..<64 + 8 * (before / movedByteCount) where idleCount < idleLimit {
        let goesOn = try database.movePages()
        let newEnd = store.state.withLock { $0.newest.byteCount }
        idleCount = goesOn || newEnd < end ? 0 : idleCount + 1
        end = newEnd
      }
    } catch {
      try? database.close()
      throw error
    }
    try database.close()
    return CompactionReport(
      byteCountBefore: before, byteCountAfter: try inspect(path: path).fileByteCount,
      wasInPlace: true)
  }
}
