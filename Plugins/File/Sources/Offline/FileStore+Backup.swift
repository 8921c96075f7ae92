import CambiumCore

/// What is left of a file before it is brought to another form.
///
/// Pointers: bytes go through a buffer that is made here and freed before the function ends.
extension FileStore {
  /// Copies the file to a name beside it that tells its form: `NAME.FORM.backup.EXTENSION`.
  ///
  /// Called by who is alone with the file or holds the writer lock, so that no page changes meanwhile; a slot
  /// that somebody writes at the same time is torn in the copy at worst, and then the other one counts. The
  /// copy is whole and on the medium when this returns. One of the same version that is there already will do: an
  /// upgrade that has failed, or was cut short, has made it. Another one stays, and this one gets a number. After
  /// an error, such as a
  /// full medium, there is none. Does nothing for devices that are no files.
  package func keepBackup(of form: String) throws(StoreError) {
    guard device is PosixDevice else { return }
    // What only the lock file leads to is not in the copy; the log of the file is.
    if !isNewestDurable { try sync() }
    for number in 1... {
      let backup = Self.backupPath(path, number == 1 ? form : "\(form)-\(number)")
      switch PosixFiles.kind(of: backup) {
      case .missing where !PosixFiles.isLink(backup): return try copy(to: backup)
      case .file: if holds(backup, try newestHead()) { return }
      case .missing, .other: break
      case .failed(let code):
        throw StoreError(DeviceError(operation: "open", code: code), path: backup)
      }
    }
  }

  /// `people.cambium` as `people.format-1.backup.cambium`.
  static func backupPath(_ path: String, _ form: String) -> String {
    let target = PosixFiles.resolved(path)
    let nameStart = target.lastIndex(of: "/").map { target.index(after: $0) } ?? target.startIndex
    guard let dot = target[nameStart...].lastIndex(of: "."), dot > nameStart else {
      return "\(target).\(form).backup"
    }
    return "\(target[..<dot]).\(form).backup\(target[dot...])"
  }

  /// Whether the file at `backup` is this one as it was at `head`.
  private func holds(_ backup: String, _ head: Head) -> Bool {
    var options = FileStoreOptions(isReadOnly: true, codec: self.options.codec)
    options.readersShare = false
    // What cannot be opened is something else.
    guard let store = try? FileStore(path: backup, options: options) else { return false }
    defer { try? store.close() }
    return store.identity.uuid == identity.uuid && (try? store.newestHead()) == head
  }

  private func copy(to backup: String) throws(StoreError) {
    let draft = backup + ".creating"
    PosixFiles.remove(draft)
    do throws(DeviceError) {
      let copy = PosixDevice(descriptor: try PosixFiles.open(draft, .createPrivate).get())
      PosixFiles.shareRights(of: PosixFiles.resolved(path), with: copy.descriptor)
      try copyBytes(to: copy)
      try copy.sync()
      try PosixFiles.rename(draft, to: backup)
      try PosixFiles.syncFolder(of: backup)
    } catch {
      PosixFiles.remove(draft)
      throw StoreError(error, path: backup)
    }
  }

  private func copyBytes(to copy: PosixDevice) throws(DeviceError) {
    let piece = UnsafeMutableRawBufferPointer.allocate(
      byteCount: 1 << 20, alignment: FileLayout.blockByteCount)
    defer { unsafe piece.deallocate() }
    var offset = 0
    while true {
      let count = try unsafe device.read(piece, at: offset)
      if count == 0 { return }
      try unsafe copy.write(UnsafeRawBufferPointer(rebasing: piece[..<count]), at: offset)
      offset += count
    }
  }
}
