#if RADOS
  import CambiumCluster
  import CambiumCore
  import CambiumRADOS
  import CambiumStoreContract
  import SimulatedCluster
  import Testing
  import TestSupport

  /// The contract of stores, on a real cluster.
  @Suite(.serialized, .enabled(if: TestCluster.isWanted)) struct RadosContractTests {
    private static let subject: StoreSubject = {
      var subject = StoreSubject("rados") { place throws(StoreError) in
        try RADOSStore.open(
          location(place.path), options: .small(isReadOnly: place.isReadOnly, codec: place.codec))
      }
      subject.sharing = .later
      subject.hasFiles = false
      subject.slackByteCount = 4 << 20
      subject.keptMetadataCount = CommitMetadata.keptCount
      return subject
    }()

    /// A store for a path: its last two parts are used nowhere else.
    private static func location(_ path: String) throws(StoreError) -> RadosLocation {
      let name = path.split(separator: "/").suffix(2).joined(separator: "/")
      return try RadosLocation("db/\(name)?conf=\(TestCluster.shared.configuration)")
    }

    @Test(arguments: StoreContract.cases)
    func `the store keeps its promise`(promise: ContractCase<StoreSubject>) {
      #expect(promise.check(Self.subject, limitSeconds: 300).findings == [])
    }

    @Test(arguments: StoreContract.cases)
    func `the store keeps its promise with a codec`(promise: ContractCase<StoreSubject>) {
      let masked = Self.subject.with(codec: "mask") { () throws(StoreError) in MaskCodec() }
      #expect(promise.check(masked, limitSeconds: 300).findings == [])
    }
  }
#endif
