import CambiumCore
import CambiumStoreContract
import Foundation

/// Where pages and the newest version are kept.
protocol PageKeeper: Sendable {
  /// The version that was saved last; nil for a new store.
  mutating func load() throws(StoreError) -> SavedVersion?
  /// Keeps a page. Nothing leads to it before a version is saved that does.
  mutating func put(_ bytes: Span<UInt8>, at address: UInt64) throws(StoreError)
  /// The page that was put there.
  func page(_ address: UInt64) throws(StoreError) -> PageBuffer?
  mutating func remove(_ address: UInt64)
  /// How many bytes there are at each address.
  func byteCounts() -> [UInt64: Int]
  /// Makes `version` the one to load, as a whole or, if it is cut short, not at all.
  mutating func save(_ version: SavedVersion, isSynced: Bool) throws(StoreError)
  mutating func sync() throws(StoreError)
  mutating func close()
}

/// A version, and what a store must know to go on from it.
struct SavedVersion: Sendable {
  var head: Head
  var nextAddress: UInt64
  /// Pages that it does not reach, but some version before it does.
  var dead: [DeadPage] = []
}

struct DeadPage: Sendable {
  var extent: Extent
  /// It is alive in the versions from `born` up to, and without, `freed`.
  var born, freed: Version
}

// snippet.next
struct DictionaryKeeper: PageKeeper {
  private var pages: [UInt64: PageBuffer] = [:]

  mutating func put(_ bytes: Span<UInt8>, at address: UInt64) throws(StoreError) {
    pages[address] = PageBuffer(copying: bytes)
  }

  func page(_ address: UInt64) throws(StoreError) -> PageBuffer? { pages[address] }
  mutating func remove(_ address: UInt64) { pages[address] = nil }
  func byteCounts() -> [UInt64: Int] { pages.mapValues(\.byteCount) }
  // Memory keeps nothing longer than the store does, and needs no sync.
  mutating func load() throws(StoreError) -> SavedVersion? { nil }
  mutating func save(_ version: SavedVersion, isSynced: Bool) throws(StoreError) {}
  mutating func sync() throws(StoreError) {}
  mutating func close() {}
}

// snippet.next
/// Unchecked: what changes is only touched while the monitor is locked.
final class SimpleStore<Keeper: PageKeeper>: PageStore, @unchecked Sendable {
  let identity: StoreIdentity
  private let monitor = NSCondition()
  private var keeper: Keeper
  private var newest: SavedVersion
  private var durable: Version
  private var pins: [Version: Int] = [:]
  private var nextTicket = 0
  private var serving = 0
  private var isClosed = false
  private var isPoisoned = false

  init(_ keeper: Keeper, _ identity: StoreIdentity) throws(StoreError) {
    self.keeper = keeper
    self.identity = identity
    let new = Head(version: 0, epoch: 1, root: .empty(.key))
    newest = try self.keeper.load() ?? SavedVersion(head: new, nextAddress: 1)
    // Whoever pinned versions is gone: nobody needs the pages that only they reached.
    for page in newest.dead { self.keeper.remove(page.extent.address) }
    newest.dead = []
    durable = newest.head.version
    // Before anything is committed in this epoch, or a crash could give it again.
    try self.keeper.save(newest, isSynced: true)
  }

  deinit { try? close() }

  private func locked<Value>(
    evenIfClosed: Bool = false, _ body: () throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    monitor.lock()
    defer { monitor.unlock() }
    if isClosed, !evenIfClosed { throw .closed(path: identity.path) }
    return try body()
  }

  /// After a failed write or sync nobody knows what was kept: readers go on, writers do not.
  private func careful<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    if isPoisoned { throw .poisoned(path: identity.path) }
    do throws(StoreError) { return try body() } catch {
      isPoisoned = true
      throw error
    }
  }

  // snippet.next
  func newestHead() throws(StoreError) -> Head {
    try locked { () throws(StoreError) in newest.head }
  }

  func pin() throws(StoreError) -> Pin {
    try locked { () throws(StoreError) in hold(newest.head) }
  }

  private func hold(_ head: Head) -> Pin {
    pins[head.version, default: 0] += 1
    return Pin(head: head) { [self] in
      monitor.lock()
      defer { monitor.unlock() }
      pins[head.version] = pins[head.version].flatMap { $0 > 1 ? $0 - 1 : nil }
      removeDeadPages()
    }
  }

  /// Removes the pages that no held version sees, and lets go of everything when nobody is left.
  private func removeDeadPages() {
    newest.dead.removeAll { page in
      let isSeen = pins.keys.contains { $0 >= page.born && $0 < page.freed }
      if !isSeen { keeper.remove(page.extent.address) }
      return !isSeen
    }
    if isClosed, pins.isEmpty, serving == nextTicket { keeper.close() }
  }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    let buffer = try locked(evenIfClosed: true) { () throws(StoreError) in
      try keeper.page(reference.address)
    }
    guard let buffer, buffer.byteCount >= reference.byteCount else {
      throw .damaged(Damage(.reference, at: reference, "there is no such page"))
    }
    return buffer.page
  }

  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    monitor.lock()
    defer { monitor.unlock() }
    let end = Date(timeIntervalSinceNow: Double(timeoutNanoseconds) / 1e9)
    while newest.head.version <= version, !isClosed, Date() < end {
      _ = monitor.wait(until: min(end, Date(timeIntervalSinceNow: 60)))
    }
    return newest.head.version
  }

  func statistics() throws(StoreError) -> StoreStatistics {
    try locked { () throws(StoreError) in
      StoreStatistics(
        totalByteCount: keeper.byteCounts().values.reduce(0, +), freeByteCount: 0,
        pendingByteCount: newest.dead.reduce(0) { $0 + $1.extent.byteCount },
        newestVersion: newest.head.version, durableVersion: durable,
        pinnedVersions: pins.keys.sorted())
    }
  }

  func audit() throws(StoreError) -> StoreAudit {
    try locked { () throws(StoreError) in
      var kept = keeper.byteCounts().filter { $0.key < newest.nextAddress }
      for page in newest.dead { kept[page.extent.address] = nil }
      return StoreAudit(of: hold(newest.head)) { [kept] reachable in
        var rest = kept
        var findings: [String] = []
        for extent in reachable where rest.removeValue(forKey: extent.address) != extent.byteCount {
          findings.append("the page at unit \(extent.address) is not there")
        }
        return findings + rest.keys.map { "nothing reaches the page at unit \($0)" }
      }
    }
  }

  // snippet.next
  func beginWrite() throws(StoreError) -> any PageWriter {
    try locked { () throws(StoreError) in
      let ticket = nextTicket
      nextTicket += 1
      while serving != ticket { monitor.wait() }
      guard !isClosed, !isPoisoned else {
        endTurn()
        throw isClosed ? .closed(path: identity.path) : .poisoned(path: identity.path)
      }
      return SimpleWriter(self, newest)
    }
  }

  private func endTurn() {
    serving += 1
    removeDeadPages()
    monitor.broadcast()
  }

  fileprivate func put(
    _ bytes: Span<UInt8>, at address: UInt64
  ) throws(StoreError) {
    try locked { () throws(StoreError) in try keeper.put(bytes, at: address) }
  }

  fileprivate func removeAll(_ addresses: some Sequence<UInt64>, endsTurn: Bool) {
    monitor.lock()
    defer { monitor.unlock() }
    for address in addresses { keeper.remove(address) }
    if endsTurn { endTurn() }
  }

  fileprivate func publish(
    _ next: SavedVersion, _ durability: Durability
  ) throws(StoreError) -> Pin {
    try locked { () throws(StoreError) in
      try careful { () throws(StoreError) in
        try keeper.save(next, isSynced: durability == .full)
      }
      newest = next
      if durability == .full { durable = next.head.version }
      return hold(next.head)
    }
  }

  func sync() throws(StoreError) {
    try locked { () throws(StoreError) in
      try careful { () throws(StoreError) in try keeper.sync() }
      durable = newest.head.version
    }
  }

  func close() throws(StoreError) {
    try locked(evenIfClosed: true) { () throws(StoreError) in
      if isClosed { return }
      isClosed = true
      monitor.broadcast()
      defer { removeDeadPages() }
      if !isPoisoned { try keeper.sync() }
    }
  }
}

// snippet.next
private final class SimpleWriter<Keeper: PageKeeper>: PageWriter {
  let base: Head
  let version: Version
  private let store: SimpleStore<Keeper>
  private var next: SavedVersion
  private var own: Set<UInt64> = []
  private var hasEnded = false

  init(_ store: SimpleStore<Keeper>, _ newest: SavedVersion) {
    self.store = store
    next = newest
    base = newest.head
    version = base.version + 1
  }

  deinit { abort() }

  func reserve(byteCount: Int) throws(StoreError) {}

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try StoreLimits.checkPage(byteCount: byteCount)
    let extent = Extent(
      address: next.nextAddress, unitCount: Extent.unitCount(forByteCount: byteCount))
    next.nextAddress = extent.end
    return extent
  }

  func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    try store.put(bytes, at: extent.address)
    own.insert(extent.address)
  }

  func free(_ reference: PageReference) {
    if own.remove(reference.address) != nil {
      return store.removeAll([reference.address], endsTurn: false)
    }
    next.dead.append(
      DeadPage(extent: reference.extent, born: reference.born, freed: version))
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    do throws(StoreError) {
      try StoreLimits.check(metadata: metadata)
      next.head = Head(version: version, epoch: base.epoch, root: root)
      let pin = try store.publish(next, durability)
      hasEnded = true
      beforeNext(next.head)
      store.removeAll([], endsTurn: true)
      return pin
    } catch {
      abort()
      throw error
    }
  }

  func abort() {
    if hasEnded { return }
    hasEnded = true
    store.removeAll(own, endsTurn: true)
  }
}

// snippet.next
var dictionary = StoreSubject("dictionary") { place throws(StoreError) in
  let identity = StoreIdentity(
    kind: "dictionary", path: place.path, uuid: (.random(in: 1 ... .max), 1), formatVersion: 1,
    codec: place.codecName, isReadOnly: false)
  return try SimpleStore(DictionaryKeeper(), identity)
}
dictionary.isPersistent = false
dictionary.canBeReadOnly = false
dictionary.sharing = .separate

for result in StoreContract.check(dictionary) where !result.findings.isEmpty { print(result) }

// snippet.next
struct FolderKeeper: PageKeeper {
  let path: String
  let identity: StoreIdentity
  private let folder: Int32
  private var unsynced: Set<UInt64> = []

  /// Opens the folder at `path`, or makes it, and keeps everybody else out.
  init(path: String, codec: String) throws(StoreError) {
    self.path = path
    let isNew = mkdir(path, 0o755) == 0
    folder = open(path, O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { throw Self.error("open", path) }
    guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
      Glibc.close(folder)
      throw .inUse(path: path, holder: "another store")
    }
    do throws(StoreError) {
      identity = try isNew ? Self.makeIdentity(path, codec) : Self.readIdentity(path)
    } catch {
      Glibc.close(folder)
      throw error
    }
  }

  private static func makeIdentity(
    _ path: String, _ codec: String
  ) throws(StoreError) -> StoreIdentity {
    let uuid = (UInt64.random(in: 1 ... .max), UInt64.random(in: 1 ... .max))
    try write(Data("\(uuid.0) \(uuid.1) \(codec)".utf8), to: path + "/identity", isSynced: true)
    return try readIdentity(path)
  }

  private static func readIdentity(_ path: String) throws(StoreError) -> StoreIdentity {
    let text = FileManager.default.contents(atPath: path + "/identity") ?? Data()
    let words = String(decoding: text, as: UTF8.self).split(
      separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, let high = UInt64(words[0]), let low = UInt64(words[1]) else {
      throw .notAStore(path: path, reason: "it has no identity")
    }
    return StoreIdentity(
      kind: "folder", path: path, uuid: (high, low), formatVersion: 1, codec: String(words[2]),
      isReadOnly: false)
  }

  private static func error(_ operation: String, _ path: String) -> StoreError {
    errno == ENOSPC
      ? .mediumFull(path: path) : .system(operation: operation, path: path, code: errno)
  }

  /// Writes a file next to its place and renames it, so that it is there as a whole or not at all.
  private static func write(
    _ data: Data, to file: String, isSynced: Bool
  ) throws(StoreError) {
    let draft = open(file + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard draft >= 0 else { throw error("create", file) }
    defer { Glibc.close(draft) }
    let count = data.withUnsafeBytes { Glibc.write(draft, $0.baseAddress, $0.count) }
    guard count == data.count, !isSynced || fsync(draft) == 0, rename(file + ".new", file) == 0
    else { throw error("write", file) }
  }

  // snippet.next
  private func file(_ address: UInt64) -> String { "\(path)/\(address).page" }

  mutating func put(_ bytes: Span<UInt8>, at address: UInt64) throws(StoreError) {
    try Self.write(Data([UInt8](copying: bytes)), to: file(address), isSynced: false)
    unsynced.insert(address)
  }

  func page(_ address: UInt64) throws(StoreError) -> PageBuffer? {
    guard let data = FileManager.default.contents(atPath: file(address)), !data.isEmpty else {
      return nil
    }
    return PageBuffer(copying: [UInt8](data).span)
  }

  mutating func remove(_ address: UInt64) {
    unlink(file(address))
    unsynced.remove(address)
  }

  func byteCounts() -> [UInt64: Int] {
    var byteCounts: [UInt64: Int] = [:]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      guard name.hasSuffix(".page"), let address = UInt64(name.dropLast(5)) else { continue }
      var status = stat()
      if stat(file(address), &status) == 0 { byteCounts[address] = Int(status.st_size) }
    }
    return byteCounts
  }

  mutating func sync() throws(StoreError) {
    // First what a version leads to, then the folder with the names, the version's among them.
    for address in unsynced {
      let page = open(file(address), O_RDONLY | O_CLOEXEC)
      defer { Glibc.close(page) }
      guard page >= 0, fsync(page) == 0 else { throw Self.error("sync", path) }
    }
    guard fsync(folder) == 0 else { throw Self.error("sync", path) }
    unsynced = []
  }

  // snippet.next
  mutating func save(_ version: SavedVersion, isSynced: Bool) throws(StoreError) {
    if isSynced { try sync() }
    var words = [version.head.version, version.head.epoch, version.nextAddress]
    for page in version.dead {
      words += [page.extent.address, page.extent.unitCount, page.born, page.freed]
    }
    var bytes = version.head.root.storedBytes
    for word in words { withUnsafeBytes(of: word.littleEndian) { bytes += $0 } }
    let checksum = Checksum.hash(bytes.span)
    withUnsafeBytes(of: checksum.littleEndian) { bytes += $0 }
    try Self.write(Data(bytes), to: path + "/head", isSynced: isSynced)
    if isSynced, fsync(folder) != 0 { throw Self.error("sync", path) }
  }

  mutating func load() throws(StoreError) -> SavedVersion? {
    guard let data = FileManager.default.contents(atPath: path + "/head") else { return nil }
    let bytes = [UInt8](data)
    let damage = StoreError.damaged(Damage(.head, "the head of '\(path)'"))
    guard bytes.count >= TreeRoot.byteCount + 32, bytes.count % 8 == 0 else { throw damage }
    let words = bytes[TreeRoot.byteCount...].withUnsafeBytes { words in
      stride(from: 0, to: words.count, by: 8).map {
        UInt64(littleEndian: words.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
      }
    }
    let checksum = Checksum.hash(bytes.span.extracting(droppingLast: 8))
    let root = TreeRoot(loadingFrom: bytes.span)
    guard checksum == words.last, let root, words.count % 4 == 0 else { throw damage }
    let dead = stride(from: 3, to: words.count - 1, by: 4).map { first in
      DeadPage(
        extent: Extent(address: words[first], unitCount: words[first + 1]),
        born: words[first + 2], freed: words[first + 3])
    }
    // What a write left behind that did not end.
    for address in byteCounts().keys where address >= words[2] { remove(address) }
    return SavedVersion(
      head: Head(version: words[0], epoch: words[1] + 1, root: root), nextAddress: words[2],
      dead: dead)
  }

  mutating func close() { Glibc.close(folder) }
}

// snippet.next
var folder = StoreSubject("folder") { place throws(StoreError) in
  let keeper = try FolderKeeper(path: place.path, codec: place.codecName)
  return try SimpleStore(keeper, keeper.identity)
}
folder.canBeReadOnly = false

for result in StoreContract.check(folder) where !result.findings.isEmpty { print(result) }
// snippet.hide
print("done")
