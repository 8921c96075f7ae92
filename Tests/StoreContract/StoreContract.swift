import CambiumCore
import Foundation

/// What every page store promises, as cases that a test runs against one.
///
/// ```swift
/// @Test(arguments: StoreContract.cases)
/// func `the store keeps the contract`(promise: ContractCase<StoreSubject>) {
///   #expect(promise.check(subject).findings == [])
/// }
/// ```
///
/// Without a test library, ``check(_:)`` returns what came of every case.
public enum StoreContract {
  /// All promises.
  ///
  /// A subject with a codec is held against those of the engine over it as well.
  public static let cases: [ContractCase<StoreSubject>] =
    publishing + pinning + durability + closing + reopening + sharing + threads + waiting + damage
    + media + engine

  /// Holds `subject` against all promises, one after another.
  public static func check(_ subject: StoreSubject) -> [ContractResult] {
    cases.map { $0.check(subject) }
  }
}

extension ContractRun where Subject == StoreSubject {
  /// A place in the folder.
  func place(_ name: String = "store") throws(StoreError) -> StorePlace {
    StorePlace(path: folder + "/" + name, codec: try subject.codec?())
  }

  /// The store at a place in the folder.
  func open(_ name: String = "store", isReadOnly: Bool = false) throws(StoreError) -> any PageStore
  {
    var place = try place(name)
    place.isReadOnly = isReadOnly
    return try subject.open(place)
  }

  /// The engine over a store, with the subject's codec.
  func database(
    _ store: any PageStore, options: DatabaseOptions = DatabaseOptions()
  ) throws(StoreError) -> Database {
    try Database(store: store, codec: try subject.codec?(), options: options)
  }

  /// Notes a finding unless the newest version holds `content`, and whatever the store finds.
  func expectContent(
    _ store: any PageStore, _ content: FakeTree.Content, _ place: String
  ) throws(StoreError) {
    let reading = try FakeTree.read(store)
    expect(reading.content == content, "\(place): the newest version is not what was committed")
    note(try store.check(reachable: reading.extents).map { "\(place): \($0)" })
  }

  /// Notes a finding unless statistics list just these versions as pinned, as soon as nothing is made
  /// durable in the background: a store may pin what it syncs.
  func expectPinned(_ store: any PageStore, _ versions: [Version]) throws(StoreError) {
    try store.sync()
    var found = try store.statistics().pinnedVersions
    for _ in 0..<100 where found != versions {
      // Nobody commits meanwhile: this only takes time.
      _ = store.waitForCommit(after: .max, timeoutNanoseconds: 10_000_000)
      found = try store.statistics().pinnedVersions
    }
    expect(found == versions, "pinned are \(versions), statistics list \(found)")
  }

  /// Whether the page at `reference`, of the version that `pin` holds or of the write that began there,
  /// begins with `bytes`.
  func holds(
    _ store: any PageStore, _ pin: Pin, _ reference: PageReference, _ bytes: [UInt8]
  ) throws(StoreError) -> Bool {
    let page = try store.read(reference, at: pin)
    return withExtendedLifetime(page) {
      unsafe page.byteCount >= bytes.count
        && Checksum.hash(page.bytes, bytes.count)
          == bytes.withUnsafeBytes { unsafe Checksum.hash($0) }
    }
  }

  /// Notes a finding unless `body` throws an error for which `isExpected` is true.
  func expectError(
    _ what: String, _ isExpected: (StoreError) -> Bool, _ body: () throws(StoreError) -> Void
  ) {
    do throws(StoreError) {
      try body()
      note("\(what) did not throw")
    } catch {
      expect(isExpected(error), "\(what) threw \(error)")
    }
  }

  /// How many bytes the pages of the newest version take.
  func reachableByteCount(_ store: any PageStore) throws(StoreError) -> Int {
    try FakeTree.read(store).extents.reduce(0) { $0 + $1.byteCount }
  }
}
