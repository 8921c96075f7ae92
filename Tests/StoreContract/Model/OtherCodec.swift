import CambiumCore

/// A codec that is not the one with which a store was made.
struct OtherCodec: PageCodec {
  let name = "another"

  func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8] {
    Array(copying: page)
  }

  func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

  func open(
    _ body: Span<UInt8>, context: PageContext
  ) throws(StoreError) -> PageBuffer {
    throw .codecFailure(codec: name, reason: "it opens nothing")
  }
}
