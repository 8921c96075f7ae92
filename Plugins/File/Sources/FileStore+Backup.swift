import CambiumCore

/// What is left of a file before it is brought to another form.
///
/// Pointers: pieces of files go through buffers that are made here and freed before the function ends.
extension FileStore {
  /// Copies the file to a name beside it that tells its form: `NAME.FORM.backup.EXTENSION`.
  ///
  /// Called by who is alone with the file or holds the writer lock, so that no page changes meanwhile; a slot
  /// that somebody writes at the same time is torn in the copy at worst, and then the other one counts. The
  /// copy is whole and on the medium when this returns. An equal one that is there already will do: an upgrade
  /// that was cut short has made it. Another one stays, and this one gets a number. After an error, such as a
  /// full medium, there is none. Does nothing for devices that are no files.
  package func keepBackup(of form: String) throws(StoreError) {
    guard device is PosixDevice else { return }
    // What only the lock file leads to is not in the copy.
    try sync()
    for number in 1... {
      let backup = Self.backupPath(path, number == 1 ? form : "\(form)-\(number)")
      switch PosixFiles.kind(of: backup) {
      case .missing where !PosixFiles.isLink(backup): return try copy(to: backup)
      case .file: if try isEqual(to: backup) { return }
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

  private static func makePiece() -> UnsafeMutableRawBufferPointer {
    .allocate(byteCount: 1 << 20, alignment: FileLayout.blockByteCount)
  }

  private func isEqual(to backup: String) throws(StoreError) -> Bool {
    let (copy, _) = try FilePaths.open(path: backup, isReadOnly: true)
    let (mine, its) = unsafe (Self.makePiece(), Self.makePiece())
    defer {
      unsafe mine.deallocate()
      unsafe its.deallocate()
    }
    var offset = 0
    while true {
      let (own, other): (Int, Int)
      do throws(DeviceError) {
        own = try unsafe device.read(mine, at: offset)
        other = try unsafe copy.read(its, at: offset)
      } catch {
        throw StoreError(error, path: backup)
      }
      guard own == other, unsafe mine[..<own].elementsEqual(its[..<own]) else {
        return false
      }
      if own == 0 { return true }
      offset += own
    }
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
    let piece = unsafe Self.makePiece()
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
