import CambiumCore

/// Bringing a file of an older format to the newest one.
///
/// Version 1 kept its free map in another form; everything else is as it was. Whoever only reads has no need of
/// the map.
extension FileStore {
  /// Opens the file once more after it was brought to the newest format, beside a backup of what it was.
  ///
  /// Throws `StoreError.formatUpgradeRequired(path:version:supported:)` when that is not allowed, and
  /// `StoreError.inUse(path:holder:)` while others read it. After an error, power loss included, the content
  /// is as it was and opening the file goes on where this ended.
  static func upgrade(_ opening: FileOpening) throws(StoreError) -> FileOpening {
    let version = opening.sector.formatVersion
    let store = FileStore(opening)
    do throws(StoreError) {
      guard opening.options.upgradesFormat else {
        throw .formatUpgradeRequired(
          path: store.path, version: version, supported: FileLayout.formatVersion)
      }
      guard store.becomeAlone() else {
        throw .inUse(
          path: store.path, holder: FilePaths.holder(path: store.path, besides: store.slot))
      }
      try store.keepBackup(of: "format-\(version)")
      try store.upgrade()
    } catch {
      // What went wrong first is what counts.
      try? store.close()
      throw error
    }
    try store.close()
    var upgraded = try FileOpening.open(path: opening.path, options: opening.options)
    upgraded.hasBackup = true
    return upgraded
  }

  /// Makes a new free map of what the newest version reaches, and then says that the file has the newest format.
  private func upgrade() throws(StoreError) {
    let (report, extents) = try Database(store: self).walkNewest(progress: nil)
    if let first = report.findings.first {
      throw .damaged(
        Damage(
          .reference,
          "its format cannot be upgraded from version \(sector.formatVersion), because trees are damaged: "
            + first))
    }
    try rebuildFreeMap(reachable: extents)
    var newest = sector
    newest.formatVersion = FileLayout.formatVersion
    newest.readFeatures |= FileLayout.logFeature
    // Until the first one is whole there is the second one.
    for offset in [FileLayout.identityCopyOffset, FileLayout.identityOffset] {
      do throws(DeviceError) {
        try device.write(newest.stored, at: offset)
        try device.sync()
      } catch {
        poison()
        throw StoreError(error, path: path)
      }
    }
  }
}

extension FileOpening {
  /// Writes the identity once more, which was found in its copy alone.
  func mendIdentity() throws(StoreError) {
    try device.perform(path: path) { device throws(DeviceError) in
      try device.write(sector.stored, at: FileLayout.identityOffset)
      try device.sync()
    }
  }
}
