import CPlatform

extension StoreError: CustomStringConvertible {
  /// One line that names the thing and the way out.
  public var description: String {
    switch self {
    case .notFound(let path):
      "No store at '\(path)': No such file or directory. Check the path, or open it for writing to create one."
    case .parentNotFound(let path):
      "Cannot create '\(path)': its folder does not exist. Create the folder first."
    case .notAFile(let path, let found):
      "Cannot open '\(path)': it is \(found), not a file. Name a file inside an existing folder."
    case .permissionDenied(let path, let operation):
      "Cannot \(operation) '\(path)': Permission denied. Use a path where this program has read and write permissions."
    case .notAStore(let path, let reason):
      "'\(path)' is not a Cambium store (\(reason)). It was left as it is; choose another path."
    case .truncated(let path, let byteCount, let expected):
      "'\(path)' has been cut short: it has \(byteCount) bytes, its head speaks of \(expected). Restore a copy."
    case .unsupportedFormat(let path, let version, let supported):
      "'\(path)' has format version \(version); this library reads up to version \(supported). Open it with a newer Cambium."
    case .formatUpgradeRequired(let path, let version, let supported):
      "The file format of '\(path)' (version \(version)) must be allowed to be upgraded in order to proceed. Allow it, which makes it version \(supported), or open it for reading only."
    case .unsupportedFeature(let path, let bits):
      "'\(path)' uses features this library does not know (bits 0x\(String(bits, radix: 16))). Open it with a newer Cambium."
    case .wrongStoreKind(let path, let found, let expected):
      "'\(path)' is a \(found) store, the configuration says \(expected). Set the configuration's store to \(found)."
    case .codecMismatch(let path, let found, let expected):
      "The pages of '\(path)' are stored with codec \(found), the configuration says \(expected). Set the configuration's codec to \(found)."
        + Self.advice(forCodec: found)
    case .codecFailure(let codec, let reason):
      "Codec \(codec) failed: \(reason)."
    case .storeUnavailable(let kind, let advice):
      "There is no kind of store \(kind) in this program. \(advice)."
    case .codecUnavailable(let codec, let advice):
      "There is no codec \(codec) in this program. \(advice)."
    case .damaged(let damage) where damage.rule == .freeMap: "\(damage.detail)."
    case .damaged(let damage):
      "The store is damaged: \(damage). Restore a copy, or run 'cambium verify' to see how far it goes."
    case .inUse(let path, let holder):
      "'\(path)' is in use by \(holder). Close it there first."
    case .mediumFull(let path):
      "No space left for '\(path)'. Nothing was changed; free some space and try again."
    case .sizeLimitReached(let path, let limit):
      "'\(path)' may not become larger than \(limit) bytes. The transaction was rolled back; delete what is not needed, or allow more."
    case .system(let operation, let path, let code):
      "Cannot \(operation) '\(path)': \(Self.text(ofSystemError: code)) (error \(code))."
        + Self.advice(forSystemError: code)
    case .poisoned(let path):
      "An earlier write to '\(path)' failed, so further writes are refused. Close it everywhere and open it again."
    case .readOnly(let path):
      "'\(path)' is open for reading only. Open it without the read-only option to write."
    case .leftUnfinished(let path, let what):
      "'\(path)' was left by an earlier version of this library that did not end in order: \(what)."
    case .versionGone(let version):
      "Version \(version) is no longer held. Refresh to the newest version."
    case .tooManyVersions(let count, let limit):
      "Number of active versions (\(count)) in the Realm exceeded the limit of \(limit). Release snapshots and frozen objects that are no longer needed."
    case .closed(let path):
      "'\(path)' has been closed. Open it again."
    case .forked(let path):
      "'\(path)' was opened before this process was forked, by its parent. Run another program in the child "
        + "(exec), or let go of all that it has inherited of it and open it again."
    case .addressSpaceExhausted(let path, let byteCount):
      "Cannot map \(byteCount) bytes of '\(path)': not enough address space. Compact it, or raise the limit of the process."
    case .moved(let path):
      "'\(path)' was deleted or moved away while it was open, or replaced by another one, so nothing is written to it "
        + "any more. Put it back, or let go of all that uses it and open it again."
    case .tooLarge(let what, let byteCount, let limit):
      "\(what) of \(byteCount) bytes is too large; the limit is \(limit) bytes."
    case .exhausted(let what, let limit):
      "There are no more \(what); the limit is \(limit)."
    case .indeterminate(let path):
      "It is unknown whether the last commit to '\(path)' took place. The next read or write shows it."
    case .ownershipLost(let path):
      "Another machine has taken over the writer lock of '\(path)', because this one did not answer in time. The transaction was rolled back; try it again, or close and open the store where it is poisoned."
    case .unreachable(let path, let operation, let reason):
      "Cannot \(operation) '\(path)': no answer (\(reason)). Check the cluster's health and the network, and try again."
    case .refused(let path, let operation, let reason):
      "Cannot \(operation) '\(path)': \(reason)."
    case .interrupted:
      "The evaluation was cancelled, or its time was over."
    }
  }
}

extension StoreError {
  /// How to get the codecs of a chain that the program was built without.
  private static func advice(forCodec chain: String) -> String {
    let advice = CodecRegistry.advice(forChain: chain)
    return advice.isEmpty ? "" : " \(advice)"
  }

  /// What to do about limits of the process; `EFBIG` and `EMFILE` have the same numbers on all systems.
  private static func advice(forSystemError code: Int32) -> String {
    switch code {
    case 27:
      " That is the limit of this process or of the file system; raise it ('ulimit -f'), or delete and compact."
    case 24:
      " Close what is no longer used, or raise the limit ('ulimit -n')."
    default: ""
    }
  }

  /// What the system calls an error.
  ///
  /// Pointers: the text lies in memory of this call; it is cut to its size, and a zero ends it.
  private static func text(ofSystemError code: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      guard let start = text.baseAddress else { return "unknown" }
      unsafe cambium_describe_error(code, start, text.count)
      return unsafe String(cString: start)
    }
  }
}

extension Damage: CustomStringConvertible {
  /// The broken rule, the place where one is known, and what was found.
  public var description: String {
    guard let reference else { return "\(rule.rawValue): \(detail)" }
    return
      "\(rule.rawValue) at byte \(reference.byteOffset) (\(reference.byteCount) bytes): \(detail)"
  }
}
