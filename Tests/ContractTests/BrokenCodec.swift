import CambiumCore
import TestSupport

/// A codec that breaks one promise, over one that keeps them.
struct BrokenCodec: PageCodec {
  /// What it does wrong.
  enum Fault: CaseIterable {
    case nameIsEmpty, bitIsLost, sealingAddsAByte, errorIsAnother, placeIsIgnored
  }

  let fault: Fault?
  private let codec = MaskCodec()

  init(_ fault: Fault?) { self.fault = fault }

  var name: String { fault == .nameIsEmpty ? "" : "broken" }

  func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8] {
    var body = try codec.encode(page, kind: kind)
    if fault == .bitIsLost { body[body.count - 1] &= 0x7f }
    return body
  }

  private func place(_ context: PageContext) -> PageContext {
    guard fault == .placeIsIgnored else { return context }
    var anywhere = context
    anywhere.address = 0
    return anywhere
  }

  func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {
    try codec.seal(&body, context: place(context))
    if fault == .sealingAddsAByte { body.append(0) }
  }

  func open(
    _ body: Span<UInt8>, context: PageContext
  ) throws(StoreError) -> PageBuffer {
    do throws(StoreError) { return try codec.open(body, context: place(context)) } catch {
      if fault == .errorIsAnother { throw .closed(path: "") }
      throw error
    }
  }
}
