import CambiumCore

/// What is left of a file before it is brought to another form.
extension FileStore {
  /// Copies the file to a name beside it that tells its form: `NAME.FORM.backup.EXTENSION`.
  ///
  /// Called by who is alone with the file or holds the writer lock, so that no page changes meanwhile; a slot
  /// that somebody writes at the same time is torn in the copy at worst, and then the other one counts. The
  /// copy is whole and on the medium when this returns. One that is there already stays: an upgrade that was
  /// cut short has made it. After an error, such as a full medium, there is none. Does nothing for devices that
  /// are no files.
  package func keepBackup(of form: String) throws(StoreError) {
    guard device is PosixDevice else { return }
    let backup = Self.backupPath(path, form)
    if case .file = PosixFiles.kind(of: backup) { return }
    let draft = backup + ".creating"
    do throws(StoreError) {
      try copyBytes(to: draft)
    } catch {
      PosixFiles.remove(draft)
      throw error
    }
    _ = try Self.name(draft: draft, as: backup)
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

  private func copyBytes(to draft: String) throws(StoreError) {
    let copy: PosixDevice
    switch PosixFiles.open(draft, .replace) {
    case .success(let descriptor): copy = PosixDevice(descriptor: descriptor)
    case .failure(let error):
      throw StoreError(DeviceError(operation: "create", code: error.code), path: draft)
    }
    PosixFiles.shareRights(of: PosixFiles.resolved(path), with: copy.descriptor)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: 1 << 20, alignment: FileLayout.blockByteCount)
    defer { unsafe buffer.deallocate() }
    var offset = 0
    while true {
      let count: Int
      do throws(DeviceError) { count = try unsafe device.read(buffer, at: offset) } catch {
        throw StoreError(error, path: path)
      }
      if count == 0 { return }
      do throws(DeviceError) {
        try unsafe copy.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
      } catch {
        throw StoreError(error, path: draft)
      }
      offset += count
    }
  }
}
