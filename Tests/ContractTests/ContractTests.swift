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

  /// A store sees of a codec the length of its bodies, what it keeps for it, and its own records in a
  /// form that only the codec opens.
  @Test(arguments: Matrix.sample)
  func `the store keeps its promise with a codec`(pair: Matrix.Pair) {
    #expect(pair.promise.check(pair.subject).findings == [])
  }

  @Test(arguments: Matrix.storesWithFaults, StoreContract.cases)
  func `a store whose operations could fail keeps its promise while none does`(
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
