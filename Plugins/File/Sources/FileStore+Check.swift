import CambiumCore

extension FileStore {
  /// A finding, a line each, for every extent whose use the store and the newest version, which
  /// reaches `reachable`, disagree about, and for damage to the store's own pages.
  public func check(reachable: [Extent]) throws(StoreError) -> [String] {
    try withOpenState { state throws(StoreError) in
      do throws(StoreError) {
        try knowSpace(&state)
      } catch {
        guard case .damaged(let damage) = error else { throw error }
        return [damage.detail]
      }
      var findings: [String] = []
      var owned: [Extent] = []
      for page in ownPages(state) {
        owned.append(page.extent)
        do throws(StoreError) {
          _ = try FreeMapDirectory.checkedPage(
            page, rawKind: page.rawKind, identity: sector, device: device, path: path)
        } catch {
          guard let damage = error.damage(at: page) else { throw error }
          findings.append("\(damage)")
        }
      }
      for record in state.records {
        guard let head = record.head else { continue }
        owned.append(head)
        let stored = try FileOpening.readSector(device, at: head.byteOffset, path: path)
        let place = HeadSector.place(atByte: head.byteOffset)
        let found = HeadSector(stored: stored, identity: sector, at: place)
        if found?.head.version != record.version {
          findings.append("the head of version \(record.version) cannot be read")
        }
      }
      return findings
        + SpaceCheck.findings(space: state.space, reachable: reachable, owned: owned)
    }
  }

  /// The pages of the newest version that belong to no tree: records, and the free map.
  private func ownPages(_ state: FileState) -> [PageReference] {
    let pages =
      state.records.flatMap(\.parts) + state.directory.regions.map(\.page)
      + state.directory.waiting.map(\.reference) + [state.directory.page]
    return pages.filter { !$0.isNone }
  }
}
