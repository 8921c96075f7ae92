import CambiumCore
import CambiumStoreContract
import Testing

/// The contract notices what is wrong: stores and codecs that break one promise each.
struct MutationTests {
  private static let promises: [BrokenStore.Fault: String] = [
    .pinsHoldNothing: "a pin holds only what it can reach, and its end gives that back",
    .pinsAreNotCounted: "statistics list what is pinned",
    .headStaysOld: "a commit is the next version, seen by all that ask later",
    .byteIsLost: "pages of every length come back as they went",
    .abortPublishes: "a write that is aborted or let go leaves no trace",
    .versionIsSkipped: "a commit is the next version, seen by all that ask later",
    .waitReturnsAtOnce: "who waits for a commit returns with it, or when time is up",
    .waitOutlivesClosing: "closing wakes who waits for a commit",
    .closedStoreAnswers: "a closed store refuses everything, and closing twice is allowed",
    .announcedPagesAreStale:
      "pages that are announced come back as they went, and may be announced in vain",
    .tellsTooLate: "what is done with a new head is done before another writer begins",
    .booksFollowCommits: "a version's books can be compared with it however many versions follow",
    .checkFindsNothing: "checking finds pages that are missing and pages that are lost",
    .identityIsShared: "a new store is empty and says what it is",
    .strayReadsSucceed: "a reference that leads outside of the store is damage",
    .writeHangs: "pins end on other threads and in any order",
    .metadataHasNoLimit: "what is too large is refused, and nothing else",
    .syncDoesNothing: "syncing makes everything durable",
  ]

  private static func subject(_ fault: BrokenStore.Fault?) -> StoreSubject {
    var subject = StoreSubject("broken") { place throws(StoreError) in
      BrokenStore(fault, name: place.path)
    }
    subject.isPersistent = false
    subject.canBeReadOnly = false
    subject.sharing = .separate
    return subject
  }

  @Test(arguments: BrokenStore.Fault.allCases)
  func `a broken store breaks its promise, and a sound one keeps it`(fault: BrokenStore.Fault)
    throws
  {
    let promise = try #require(
      StoreContract.cases.first { $0.name == Self.promises[fault] })
    #expect(promise.check(Self.subject(nil)).outcome == .kept)
    let result = promise.check(Self.subject(fault), limitSeconds: 2)
    #expect(!result.findings.isEmpty)
    #expect(result.findings.allSatisfy { $0.hasPrefix("broken: \(promise.name): ") })
  }

  private static let codecPromises: [BrokenCodec.Fault: String] = [
    .nameIsEmpty: "it has a name that can be written down",
    .bitIsLost: "pages of every kind, length and content come back",
    .sealingAddsAByte: "pages of every kind, length and content come back",
    .errorIsAnother: "bodies that were cut, continued or made up do no harm",
    .placeIsIgnored: "a page read in another place is refused, or itself",
  ]

  @Test(arguments: BrokenCodec.Fault.allCases)
  func `a broken codec breaks its promise, and a sound one keeps it`(fault: BrokenCodec.Fault)
    throws
  {
    let promise = try #require(
      CodecContract.cases.first { $0.name == Self.codecPromises[fault] })
    #expect(
      promise.check(CodecSubject("sound") { () throws(StoreError) in BrokenCodec(nil) }).outcome
        == .kept)
    var broken = CodecSubject("broken") { () throws(StoreError) in BrokenCodec(fault) }
    broken.authenticates = fault == .placeIsIgnored
    #expect(!promise.check(broken).findings.isEmpty)
  }

  @Test func `what a subject cannot do is not asked of it`() throws {
    let results = StoreContract.cases.filter { $0.name.contains("reading only") }
      .map { $0.check(Self.subject(nil)) }
    #expect(!results.isEmpty)
    for result in results {
      #expect(result.findings == [])
      #expect(result.description.contains("not asked of it"))
    }
  }
}
