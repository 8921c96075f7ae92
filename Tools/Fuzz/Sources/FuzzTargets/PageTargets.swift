@testable import CambiumCore

/// A database over crafted pages.
struct Planted {
  let stand: PageStand
  let source: PageSource
  let transaction: Transaction

  private static let stand = PageStand()
  private static let database: Database? = {
    var options = DatabaseOptions()
    options.pageCacheByteCount = 1 << 20
    return try? Database(store: stand, options: options)
  }()

  init?() {
    Self.stand.clear()
    guard let database = Self.database, let snapshot = try? database.snapshot(),
      let transaction = try? database.beginWrite()
    else { return nil }
    stand = Self.stand
    source = snapshot.source
    self.transaction = transaction
  }
}

/// Gives `body` the bytes with the first one set to the kind, which no search would find.
private func withPage(
  _ bytes: UnsafeRawBufferPointer, _ kind: PageKind, _ body: (UnsafeRawBufferPointer) -> Void
) {
  guard bytes.count >= 16 else { return }
  var page = [UInt8](bytes.prefix(200_000))
  page[0] = kind.rawValue
  page.withUnsafeBytes(body)
}

enum KeyPages {
  static func runLeaf(_ bytes: UnsafeRawBufferPointer) {
    guard let planted = Planted() else { return }
    withPage(bytes, .keyLeaf) { bytes in
      let reference = planted.stand.plant(bytes, .keyLeaf)
      guard let page = try? planted.source.page(reference, .keyLeaf) else { return }
      let root = TreeRoot(
        reference: reference, height: 1, kind: .key, rowCount: UInt64(KeyNode(page).count))
      TreeExercise.read(KeyTree(root: root, source: planted.source))
      TreeExercise.editKeys(root, planted.transaction.context)
    }
  }

  static func runBranch(_ bytes: UnsafeRawBufferPointer) {
    guard let planted = Planted() else { return }
    withPage(bytes, .keyBranch) { bytes in
      let reference = planted.stand.plant(bytes, .keyBranch)
      guard let page = try? planted.source.page(reference, .keyBranch) else { return }
      let node = KeyNode(page)
      for index in 0..<node.count {
        let key = node.key(index, header: KeyNode.branchCellHeader)
        _ = key.withUnsafeBytes { node.childIndex($0) }
        _ = node.child(index)
        _ = node.rowCount(before: index)
      }
      for height in 2...3 as ClosedRange<UInt8> {
        let root = TreeRoot(reference: reference, height: height, kind: .key, rowCount: 100)
        TreeExercise.read(KeyTree(root: root, source: planted.source))
        TreeExercise.editKeys(root, planted.transaction.context)
      }
    }
  }
}

enum ColumnPages {
  static func runLeaf(_ bytes: UnsafeRawBufferPointer) {
    guard let planted = Planted() else { return }
    withPage(bytes, .columnLeaf) { bytes in
      let reference = planted.stand.plant(bytes, .columnLeaf)
      guard let page = try? planted.source.page(reference, .columnLeaf) else { return }
      let leaf = ColumnLeaf(page)
      let root = TreeRoot(
        reference: reference, height: 1, kind: leaf.isPositional ? .position : .column,
        rowCount: UInt64(leaf.rowCount))
      TreeExercise.read(ColumnTree(root: root, source: planted.source))
      if leaf.rowCount <= 20_000 { TreeExercise.editRows(root, planted.transaction.context) }
    }
  }

  static func runBranch(_ bytes: UnsafeRawBufferPointer) {
    guard let planted = Planted() else { return }
    withPage(bytes, .columnBranch) { bytes in
      let reference = planted.stand.plant(bytes, .columnBranch)
      guard let page = try? planted.source.page(reference, .columnBranch) else { return }
      let branch = ColumnBranch(page)
      for index in 0..<branch.count {
        _ = branch.child(for: branch.separator(index))
        _ = branch.child(at: branch.rowsBefore(index))
      }
      let root = TreeRoot(
        reference: reference, height: UInt8(branch.level + 1),
        kind: branch.isPositional ? .position : .column, rowCount: 100)
      TreeExercise.read(ColumnTree(root: root, source: planted.source))
      TreeExercise.editRows(root, planted.transaction.context)
    }
  }
}

enum OverflowPages {
  /// The first eight bytes are a length, the next one says how many pages the rest is cut into;
  /// lists find their children by a number in place of each reference's address.
  static func run(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 9, let planted = Planted() else { return }
    let length = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    let pieces = Int(bytes[8] % 4) + 1
    let rest = UnsafeRawBufferPointer(rebasing: bytes[9...])
    var references: [PageReference] = []
    for piece in 0..<pieces {
      let part = rest[(rest.count * piece / pieces)..<(rest.count * (piece + 1) / pieces)]
      var page = [UInt8](part)
      // Lists name pages that were planted before them.
      var offset = 0
      while !references.isEmpty, offset + PageReference.byteCount <= page.count {
        let child = references[Int(page[offset]) % references.count]
        if page[offset] < 64 {
          page.withUnsafeMutableBytes { page in
            if let base = page.baseAddress { child.store(to: base + offset) }
          }
        }
        offset += PageReference.byteCount
      }
      references.append(page.withUnsafeBytes { planted.stand.plant($0, .overflow) })
    }
    for reference in references {
      let value = OverflowValue(byteCount: length, reference: reference)
      tolerating { () throws(StoreError) in
        // Reading is bounded by the pages, however long the value says it is.
        _ = try value.read(from: planted.source)
      }
      tolerating { () throws(StoreError) in
        try value.forEachPage(in: planted.source) { _, _ throws(StoreError) in }
      }
      tolerating { () throws(StoreError) in
        try value.free(in: planted.transaction.context)
      }
    }
  }
}
