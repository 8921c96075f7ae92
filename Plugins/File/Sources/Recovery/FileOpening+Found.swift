import CambiumCore

extension FileOpening {
  /// What a file says of itself to who is alone with it, or may not share memory.
  struct Found {
    let sector: IdentitySector
    let codec: (any PageCodec)?
    let slots: [HeadSector?]
    let fileByteCount: Int
    /// At which version of the file it opens.
    let recovery: Recovery
    /// The newest version, where that follows in the log.
    private(set) var logged: FileState.Logged?
    /// What the commits in the log were given.
    private(set) var smallCommits: [CommitMetadata] = []
    /// What the log in the file has, as far as that is known to be durable, or was found there.
    private(set) var tail: StoredLog.Tail?
    /// The records of the log in the file, where they take the place of those in memory.
    private(set) var storedRecords: [UInt8]?
    let wasPoisoned: Bool
    private(set) var notes: [String]

    /// The newest version.
    var newestHead: Head { logged?.head ?? recovery.newest.head }

    /// Reads the file; changes nothing.
    ///
    /// `lockFile` is believed if it speaks of the file with that number.
    init(
      _ device: any Device, _ options: FileStoreOptions, knownTo lockFile: SharedMemory?,
      _ number: FileNumber, path: String
    ) throws(StoreError) {
      (sector, codec) = try FileOpening.readIdentity(device, options, path: path)
      slots = try FileOpening.readSlots(device, identity: sector, path: path)
      fileByteCount = try FileOpening.fileByteCount(device, path: path)
      let memory = lockFile.flatMap { [sector] in $0.matches(sector, number) ? $0 : nil }
      let live = memory?.knownHead(sector)
      let condition = live == nil ? .clean : memory?.condition ?? .clean
      wasPoisoned = condition == .poisoned || condition == .recoveredAfterFailure
      recovery = try Recovery(
        slots: slots, live: live, wasPoisoned: wasPoisoned, identity: sector, device: device,
        path: path, fileByteCount: fileByteCount)
      notes = recovery.notes
      try readLogs(memory, device, path: path)
    }

    /// Finds out what follows the version of the file in its two logs.
    ///
    /// The one in memory has all that anybody has seen in this boot, and the mark there says which of it is durable. The
    /// one in the file has what was acknowledged, and may have a batch besides that somebody has died over. It counts
    /// where memory says nothing, or less: the lock file is never synced, so that it may have gone back with a medium
    /// that was away for a while. Nobody has written behind a batch that somebody died over, or it would be gone.
    private mutating func readLogs(
      _ memory: SharedMemory?, _ device: any Device, path: String
    ) throws(StoreError) {
      let base = recovery.newest.head
      let word = memory?.live(sector)
      let mark = word?.head.head.version == base.version ? memory?.durableMark : nil
      var isKnown = false
      if let mark {
        tail = mark.log?.base == base.version ? mark.log : nil
        let found = try StoredLog.tail(
          following: recovery.newest, behind: tail, identity: sector, device: device, path: path)
        isKnown = found.blockCount == tail?.blockCount ?? 0
      }
      if !isKnown {
        tail = nil
        try readStoredLog(device, path: path)
      }
      var failure: StoreError?
      if let memory, let word, word.isLogged, isSame(word.head), word.version >= newestHead.version
      {
        do throws(StoreError) {
          var live = word
          live.head = recovery.newest
          let (newest, commits) = try FileState.Logged.replayed(
            live, onto: nil, in: memory, identity: sector, codec: codec, device, path: path)
          if newest.head.version >= tail?.version ?? 0, newest.end >= tail?.byteCount ?? 0 {
            (logged, smallCommits, storedRecords) = (newest, commits, nil)
            return
          }
        } catch {
          switch error {
          case .damaged, .truncated, .codecFailure: failure = error
          // What cannot be read now may be whole.
          default: throw error
          }
        }
      }
      // What memory has is lost, or less than is durable.
      if logged == nil, tail != nil || word?.isLogged ?? false {
        tail = nil
        try readStoredLog(device, path: path)
      }
      guard let word, newestHead.version < word.version else { return }
      notes.append(
        "The small commits since version \(newestHead.version) were lost: "
          + (failure.map { "\($0)" } ?? "the file opens at version \(base.version)."))
    }

    /// Whether `live` names the version of the file that was found.
    ///
    /// Whoever settled that in the next epoch may have died before saying so.
    private func isSame(_ live: HeadSector) -> Bool {
      live.head == recovery.newest.head
        || recovery.newest.isNextEpoch(of: live) && live.head.root == recovery.newest.head.root
    }

    /// Makes the newest version of what the log in the file has.
    ///
    /// What has whole records was acknowledged: where a page is damaged of which they say what became of it, no earlier
    /// version takes its place.
    private mutating func readStoredLog(_ device: any Device, path: String) throws(StoreError) {
      let content = try StoredLog.content(
        following: recovery.newest, identity: sector, codec: codec, device: device, path: path)
      guard let content else { return }
      (logged, smallCommits) = (content.newest, content.commits)
      (tail, storedRecords) = (content.tail, content.records)
    }
  }
}
