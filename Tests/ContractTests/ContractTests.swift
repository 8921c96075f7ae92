import CambiumStoreContract
import Testing

/// Every plug-in keeps what the seams promise.
struct ContractTests {
  @Test(arguments: Matrix.subjects, StoreContract.cases)
  func `the store keeps its promise`(
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
