#if RADOS
  import CambiumCluster
  import CambiumCore
  import CambiumRADOS
  import CambiumStoreContract
  import Testing
  import TestSupport

  /// The contract of stores, on a real cluster.
  @Suite(.serialized, .enabled(if: TestCluster.isWanted)) struct RadosContractTests {
    private static let subject: StoreSubject = {
      var subject = StoreSubject("rados") { place throws(StoreError) in
        var options = ClusterOptions()
        options.isReadOnly = place.isReadOnly
        options.codec = place.codec
        options.blockByteCount = 64 << 10
        options.inlineByteCount = 8 << 10
        options.logByteCount = 64 << 10
        options.writeAheadByteCount = 256 << 10
        options.turnSeconds = 0.001
        options.collectionSeconds = 0.01
        return try RADOSStore.open(location(place.path), options: options)
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
