import CambiumStoreContract
import Testing

/// Every plug-in keeps what the seams promise.
struct ContractTests {
  @Test(arguments: Matrix.stores, StoreContract.cases)
  func `the store keeps its promise`(
    subject: StoreSubject, promise: ContractCase<StoreSubject>
  ) {
    #expect(promise.check(subject).findings == [])
  }

  /// A store sees nothing of a codec but the length of its bodies, and what it keeps for it.
  @Test(arguments: Matrix.storesWithCodecs, StoreContract.engine + StoreContract.reopening)
  func `the store keeps its promise with a codec`(
    subject: StoreSubject, promise: ContractCase<StoreSubject>
  ) {
    #expect(promise.check(subject).findings == [])
  }

  @Test(arguments: Matrix.codecs, CodecContract.cases)
  func `the codec keeps its promise`(
    subject: CodecSubject, promise: ContractCase<CodecSubject>
  ) {
    #expect(promise.check(subject).findings == [])
  }
}
