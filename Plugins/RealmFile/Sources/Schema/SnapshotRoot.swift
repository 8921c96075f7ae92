/// The root of one committed version.
///
/// ```
///  0       1        2              6
/// | names | tables | logical size | version |     other slots are skipped
/// ```
struct SnapshotRoot {
  /// The table key that leads nowhere.
  static let noTable: Int64 = 0x7FFF_FFFF
  private static let counts: Set<Int> = [3, 5, 7, 9, 10, 11, 12]

  private enum Slot {
    static let names = 0
    static let tables = 1
    static let logicalByteCount = 2
    static let version = 6
  }

  /// A table and the slot that it has.
  struct Table {
    var name: String
    var position: Int
    var slot: Int
  }

  let node: Node
  /// No node of the snapshot lies beyond.
  let logicalByteCount: Int
  let version: UInt64

  /// Reads the root at `position`.
  init(at position: Int, of bytes: PlainBytes) throws(ReadFault) {
    node = try Walk(bytes, logicalByteCount: bytes.byteCount).node(at: position)
    guard Self.counts.contains(node.count) else {
      throw node.damage("the root has \(node.count) elements")
    }
    let size = try node.tagged(Slot.logicalByteCount, "the size of the snapshot")
    guard size <= Int64(bytes.byteCount) else {
      throw node.damage(
        "the snapshot claims to have \(size) bytes, and the file has \(bytes.byteCount)")
    }
    guard Int64(position + node.header.extent) <= size else {
      throw node.damage("the root lies beyond the end of its snapshot, which has \(size) bytes")
    }
    logicalByteCount = Int(size)
    version = UInt64(try node.optionalTagged(Slot.version, "the version") ?? 0)
  }

  /// The tables that were not deleted, in the order of their slots.
  func tables(_ reader: ValueReader, _ walk: Walk) throws(ReadFault) -> [Table] {
    let names = try reader.names(at: node.ref(Slot.names, "the names of tables"), walk)
    let list = try walk.node(at: node.ref(Slot.tables, "the tables"))
    let refs = try list.references("tables", expected: names.count)
    var tables: [Table] = []
    for (slot, name) in names.enumerated() {
      switch Node.Slot(refs[slot]) {
      case .ref(let position):
        tables.append(Table(name: name, position: position, slot: slot))
      case .tagged: continue
      case .none: throw list.damage("the table '\(name)' is missing")
      }
    }
    return tables
  }
}
