import CambiumCore
import Synchronization

/// A codec that changes nothing, and refuses the pages that it is told to: their checksums are right all
/// the same.
final class RefusingCodec: PageCodec {
  let name = "refusing"
  private let isRefused = Mutex<@Sendable (PageContext) -> Bool>({ _ in false })

  /// From now on pages for which `condition` holds cannot be opened.
  func refuse(where condition: @escaping @Sendable (PageContext) -> Bool) {
    isRefused.withLock { $0 = condition }
  }

  func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8] {
    Array(copying: page)
  }

  func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

  func open(
    _ body: Span<UInt8>, context: PageContext
  ) throws(StoreError) -> PageBuffer {
    if isRefused.withLock({ $0(context) }) {
      throw .codecFailure(codec: name, reason: "it was told to refuse this page")
    }
    return PageBuffer(copying: body)
  }
}
