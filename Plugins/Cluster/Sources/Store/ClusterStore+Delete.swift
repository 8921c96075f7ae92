import CambiumCore

extension ClusterStore {
  /// The names of the locks that a store takes, for storages in which locks leave something behind.
  public static let lockNames = [ObjectNames.writer, ObjectNames.waiting, ObjectNames.pins]

  /// Deletes the store that `storage` has, with all its objects; false when there is none.
  ///
  /// Closes `storage`. From the first moment on nobody can open it; what a failure leaves can be deleted again.
  /// Throws `StoreError.inUse(path:holder:)` while anybody has it open.
  @discardableResult
  public static func delete(_ storage: any ObjectStorage) throws(StoreError) -> Bool {
    defer { storage.close() }
    let client = ObjectClient(
      storage: storage,
      timeoutNanoseconds: ClusterOptions.nanoseconds(ClusterOptions().readTimeoutSeconds),
      clock: BackgroundJob(BackgroundLane()))
    guard
      let start = try client.read(ObjectNames.root, [0..<RootIdentity.fixedByteCount], "delete")?
        .first
    else { return false }
    let bytes = start.copy(0..<start.byteCount)
    if !bytes.starts(with: RootIdentity.deletedMagic) {
      _ = try RootIdentity.byteCount(bytes, path: storage.path)
      let holders = try client.names(.holders(name: ObjectNames.pins), "delete")
      if let holder = holders.first {
        throw .inUse(path: storage.path, holder: PinLease.name(holder))
      }
      let mark = ObjectSwap(
        offset: 0, expected: Array(bytes.prefix(RootIdentity.magic.count)),
        change: .replace(RootIdentity.deletedMagic))
      do throws(StoreError) {
        _ = try client.ask(.swap(name: ObjectNames.root, mark), "delete")
      } catch {
        // Where no answer came, it may have been done.
        guard case .ownershipLost = error else { throw error }
      }
    }
    let names = try client.names(.list, "delete").filter { $0 != ObjectNames.root }
    _ = try client.ask(names.map { .remove(name: $0) }, "delete")
    _ = try client.ask(.remove(name: ObjectNames.root), "delete")
    return true
  }
}
