import CambiumCore

/// What a compaction did.
public struct CompactionReport: Hashable, Sendable {
  /// The size of the file before, in bytes.
  public var byteCountBefore: Int
  /// The size of the compacted file, in bytes.
  public var byteCountAfter: Int
}

extension FileStore {
  /// Rewrites the store at `path` as small as it can be.
  ///
  /// The newest version is copied into a new file beside the old one, which then takes its place in
  /// one rename that survives power loss; with `output` the copy goes there instead and the original
  /// is only read. `progress` is called now and then with the number of rows copied.
  ///
  /// Pages come through `codec` and go through the same again, or through what `recoding` makes of the
  /// old store's database: another codec, or nil for none. The same codec keeps its dictionary and
  /// makes its salt anew.
  ///
  /// Throws `StoreError.inUse(path:holder:)` when somebody has the store open, and
  /// `StoreError.system(operation:path:code:)` when `output` exists. On every error the original is
  /// as it was and no new file is left behind.
  public static func compact(
    path: String, output: String? = nil, codec: (any PageCodec)? = nil,
    progress: (Int) -> Void = { _ in },
    recoding: ((Database) throws(StoreError) -> (any PageCodec)?)? = nil
  ) throws(StoreError) -> CompactionReport {
    if let output, case .missing = PosixFiles.kind(of: output) {
    } else if let output {
      throw .system(operation: "create", path: output, code: PosixFiles.exists)
    }
    let target = PosixFiles.resolved(path)
    let destination = output ?? target + ".compacting"
    if output == nil { PosixFiles.remove(destination) }
    do throws(StoreError) {
      let (head, before) = try copy(
        path: target, to: destination, codec, recoding, progress)
      let after = try inspect(path: destination).fileByteCount
      if output == nil {
        try replace(path: target, with: destination, expecting: head, codec: codec)
      }
      return CompactionReport(byteCountBefore: before, byteCountAfter: after)
    } catch {
      PosixFiles.remove(destination)
      PosixFiles.remove(SharedMemory.path(for: destination))
      throw error
    }
  }

  /// Copies the newest version of the store at `path`; returns its head and the file's size.
  private static func copy(
    path: String, to destination: String, _ codec: (any PageCodec)?,
    _ recoding: ((Database) throws(StoreError) -> (any PageCodec)?)?, _ progress: (Int) -> Void
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
    let copy = try Database(store: FileStore(path: destination, options: options))
    let head = try source.newestHead()
    try database.copy(to: copy, progress: progress)
    try copy.close()
    try database.close()
    return (head, before)
  }
}
