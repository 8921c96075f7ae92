import CambiumCore
import CambiumMemory
import TestSupport
import Testing

/// Reading through a transaction that has ended.
struct EndedTransactionTests {
  @Test(arguments: [false, true])
  func `a tree of a transaction that has ended is not read any more`(hasCodec: Bool) async {
    await #expect(processExitsWith: .failure) { [hasCodec = hasCodec as Bool] in
      let codec = hasCodec ? MaskCodec() : nil
      let database = try Database(store: HeapStore(codec: codec?.name ?? ""), codec: codec)
      let filling = try database.beginWrite()
      let editor = try filling.editKeyTree("a")
      for key in 0..<2000 {
        try Array("\(key)".utf8).withUnsafeBytes { _ = try editor.set($0, $0) }
      }
      _ = try filling.commit()
      let transaction = try database.beginWrite()
      guard let tree = try transaction.keyTree("a") else { return }
      // Often enough for its pages to be held where they are decoded.
      for _ in 0..<4 { _ = try tree.value(for: Array("77".utf8)) }
      transaction.rollback()
      _ = try tree.value(for: Array("77".utf8))
    }
  }
}
