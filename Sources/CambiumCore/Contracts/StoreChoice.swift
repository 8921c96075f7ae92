/// A kind of store that a program can choose by name, for configurations.
///
/// A plug-in adds its own as a static member of an extension.
public struct StoreChoice: Sendable {
  /// The kind's name, as the store itself knows it.
  public let kind: String
  /// Whether its content ends with its last user.
  public let isVolatile: Bool
  /// Whether it is on other machines: its path names no file.
  public let isRemote: Bool
  /// Opens the store, creating it unless it is only read.
  public let open: @Sendable (StoreRequest) throws(StoreError) -> any PageStore
  /// Deletes the store at a path; nil for a kind that leaves that to the program.
  ///
  /// False when there is none. Throws ``StoreError/inUse(path:holder:)`` while anybody has it open, in
  /// this process or another one, and keeps others out meanwhile; after an error it can be tried again.
  public let delete: (@Sendable (_ path: String) throws(StoreError) -> Bool)?

  /// Describes a kind of store.
  public init(
    kind: String, isVolatile: Bool = false, isRemote: Bool = false,
    delete: (@Sendable (_ path: String) throws(StoreError) -> Bool)? = nil,
    open: @escaping @Sendable (StoreRequest) throws(StoreError) -> any PageStore
  ) {
    self.kind = kind
    self.isVolatile = isVolatile
    self.isRemote = isRemote
    self.delete = delete
    self.open = open
  }
}

/// What a store has to be opened for.
public struct StoreRequest: Sendable {
  /// Where the store is, or the name of one in memory.
  public var path: String
  /// Whether writes will be refused; then the store must exist.
  public var isReadOnly: Bool
  /// Whether there must be none yet: one is made, by one step, or opening throws
  /// ``StoreError/system(operation:path:code:)`` with `EEXIST`.
  ///
  /// For kinds on other machines, where a store is made under its final name. Others may leave it out of account.
  public var mustBeNew = false
  /// The codec that pages go through; nil for none.
  public var codec: (any PageCodec)?
  /// The most bytes that the store may take; nil for no limit but the medium's.
  ///
  /// Part of them is kept for writes that free as much as they take, so that a full store can be emptied: an
  /// eighth, but at least 512 KiB (of small limits a quarter) and at most 128 MiB. What would go beyond
  /// throws ``StoreError/sizeLimitReached(path:limit:)``.
  public var maximumByteCount: Int?
  /// Whether a store of an older format is brought to the newest one when it is opened for writing.
  ///
  /// Otherwise that throws ``StoreError/formatUpgradeRequired(path:version:supported:)``. Programs with an
  /// earlier version of this library refuse an upgraded store. While others have the store open, it is
  /// not upgraded, but in use.
  public var upgradesFormat = true

  /// After how many seconds without an answer a read of a store on other machines throws; nil for what the
  /// store chooses.
  public var readTimeoutSeconds: Double?

  /// Asks for the store at `path`.
  public init(path: String, isReadOnly: Bool = false, codec: (any PageCodec)? = nil) {
    self.path = path
    self.isReadOnly = isReadOnly
    self.codec = codec
  }
}
