import CPlatform

/// Rows that were inserted out of order, on their way into a tree: packed one after another in raw
/// memory, to be sorted and merged into the tree together.
///
/// A row is a fixed part with a field for each column, in which a value of bytes has its length, and
/// behind it those bytes. Belongs to one editor.
///
/// Pointers: chunks, entries and fields are its own, freed in the deinit; chunks never move, so that entries
/// may name rows in them. A row begins only where the largest one has room. Values, one for each column, are
/// the caller's for the time of the call.
@safe final class RowLog {
  /// A row and its key.
  @safe struct Entry {
    var key: Int64
    var row: UnsafeRawPointer
  }

  /// Where a row keeps the cell of a column.
  struct Field {
    var type: ColumnType
    var isNullable: Bool
    var offset: Int
    /// Where the byte lies that is 1 for null; columns of bytes have none.
    var nullOffset: Int
  }

  /// In a field of bytes, in place of a length: null.
  static let nullBytes: UInt32 = 0x7fff_ffff
  /// In a field of bytes: they are an ``OverflowCell``.
  static let overflowBit: UInt32 = 1 << 31

  let layout: ColumnLayout
  let columnCount: Int
  /// A field for each column of the layout, in its order.
  let fields: UnsafeMutablePointer<Field>
  let fixedByteCount: Int
  private let inlineLimit: Int
  /// The most that a row can take.
  private let largestByteCount: Int
  private let chunkByteCount: Int
  private var chunks: [UnsafeMutableRawPointer] = unsafe []
  // Exclusivity is not checked: a log has one user, and no access to these calls out.
  @exclusivity(unchecked) private final var cursor: UnsafeMutableRawPointer
  /// A row that begins at or before it has room whatever it holds.
  @exclusivity(unchecked) private final var lastStart: UnsafeMutableRawPointer
  @exclusivity(unchecked) private(set) final var entries: UnsafeMutablePointer<Entry>
  @exclusivity(unchecked) private final var capacity: Int
  /// How many rows there are.
  @exclusivity(unchecked) private(set) final var count = 0
  /// The keys of the rows and, if they are known, of the tree's.
  let keys: KeySet
  /// Whether ``keys`` has those of the tree, too.
  let knowsTree: Bool
  /// The bounds of the tree's keys; the first above the last when it has none.
  let treeBounds: (first: Int64, last: Int64)
  /// The lowest key of a row.
  @exclusivity(unchecked) private(set) final var lowest = Int64.max
  /// The highest key of a row or of the tree.
  @exclusivity(unchecked) private(set) final var highest = Int64.min
  /// How many rows in a row came in order, above all others.
  @exclusivity(unchecked) private(set) final var ascendingCount = 0

  /// An empty log; `keys` are those of the tree if it `knowsTree`, and otherwise none.
  init(
    layout: ColumnLayout, inlineLimit: Int, keys: KeySet = KeySet(), knowsTree: Bool,
    treeBounds: (first: Int64, last: Int64)
  ) {
    self.layout = layout
    self.keys = keys
    self.inlineLimit = inlineLimit
    self.knowsTree = knowsTree
    self.treeBounds = treeBounds
    columnCount = layout.columns.count
    unsafe fields = .allocate(capacity: max(1, columnCount))
    var end = 0
    var longest = 0
    for (index, spec) in layout.columns.enumerated() {
      var field = Field(
        type: spec.type, isNullable: spec.isNullable, offset: end, nullOffset: -1)
      if spec.type == .bytes {
        end += 4
        longest += max(inlineLimit, OverflowCell.maximumByteCount)
      } else {
        end += BuilderColumn.stride(spec.type)
        if spec.isNullable {
          field.nullOffset = end
          end += 1
        }
      }
      unsafe (fields + index).initialize(to: field)
    }
    fixedByteCount = end
    largestByteCount = end + longest
    chunkByteCount = max(256 << 10, largestByteCount * 4)
    unsafe capacity = 4096
    unsafe entries = unsafe .allocate(capacity: capacity)
    let chunk = UnsafeMutableRawPointer.allocate(byteCount: chunkByteCount, alignment: 16)
    unsafe chunks = unsafe [chunk]
    unsafe cursor = unsafe chunk
    unsafe lastStart = unsafe chunk + (chunkByteCount - largestByteCount)
    unsafe highest = treeBounds.last
  }

  deinit {
    unsafe chunks.forEach { unsafe $0.deallocate() }
    unsafe entries.deallocate()
    unsafe fields.deallocate()
  }

  /// The memory it takes, with what sorting it will take, in bytes.
  var byteCount: Int {
    unsafe chunks.count * chunkByteCount + capacity * MemoryLayout<Entry>.stride * 2
      + keys.byteCount
  }

  /// Adds a row; false, and no row more, when a value is longer than the limit for leaves, or a tree,
  /// and `overflow` does not say what stands in its place.
  @inline(__always) func append(
    key: Int64, values: UnsafePointer<ColumnValue>, overflow: [[UInt8]?]?
  ) -> Bool {
    if unsafe cursor > lastStart { addChunk() }
    if unsafe count == capacity { growEntries() }
    let row = unsafe cursor
    var end = unsafe row + fixedByteCount
    for index in 0..<columnCount {
      let field = unsafe fields[index]
      if let cell = overflow?[index] {
        unsafe cell.withUnsafeBytes { cell in
          unsafe row.put(single: UInt32(cell.count) | Self.overflowBit, field.offset)
          unsafe end.copyMemory(from: cell.baseAddress.unsafelyUnwrapped, byteCount: cell.count)
          unsafe end += cell.count
        }
        continue
      }
      if field.nullOffset >= 0 { unsafe row.put(byte: 0, field.nullOffset) }
      switch unsafe values[index] {
      case .null: unsafe putNull(field, row, index)
      case .int(let value):
        if field.type != .int { mismatch(index) }
        unsafe row.put(word: UInt64(bitPattern: value), field.offset)
      case .bool(let value):
        if field.type != .bool { mismatch(index) }
        unsafe row.put(byte: value ? 1 : 0, field.offset)
      case .float(let value):
        if field.type != .float { mismatch(index) }
        unsafe row.put(single: value.bitPattern, field.offset)
      case .double(let value):
        if field.type != .double { mismatch(index) }
        unsafe row.put(word: value.bitPattern, field.offset)
      case .wide(let low, let high):
        if field.type != .wide { mismatch(index) }
        unsafe row.put(word: low, field.offset)
        unsafe row.put(word: high, field.offset &+ 8)
      case .bytes(let bytes):
        if field.type != .bytes { mismatch(index) }
        if bytes.count > inlineLimit { return false }
        unsafe row.put(single: UInt32(truncatingIfNeeded: bytes.count), field.offset)
        if let start = bytes.baseAddress { unsafe cambium_copy(end, start, bytes.count) }
        unsafe end += bytes.count
      case .tree:
        if field.type != .bytes { mismatch(index) }
        return false
      }
    }
    unsafe entries[count] = unsafe Entry(key: key, row: UnsafeRawPointer(row))
    unsafe cursor = unsafe end
    unsafe count &+= 1
    if unsafe key > highest {
      unsafe ascendingCount &+= 1
      unsafe highest = key
    } else {
      unsafe ascendingCount = 0
    }
    if unsafe key < lowest { unsafe lowest = key }
    return true
  }

  private func putNull(_ field: Field, _ row: UnsafeMutableRawPointer, _ index: Int) {
    precondition(
      field.isNullable, "Column \(layout.columns[index].id) is not nullable; give it a value.")
    if field.type == .bytes { return unsafe row.put(single: Self.nullBytes, field.offset) }
    unsafe (row + field.offset).initializeMemory(
      as: UInt8.self, repeating: 0, count: BuilderColumn.stride(field.type))
    unsafe row.put(byte: 1, field.nullOffset)
  }

  @inline(never) private func mismatch(_ index: Int) -> Never {
    let spec = layout.columns[index]
    preconditionFailure(
      "Column \(spec.id) holds \(spec.type); give it values of that type.")
  }

  @inline(never) private func addChunk() {
    let chunk = UnsafeMutableRawPointer.allocate(byteCount: chunkByteCount, alignment: 16)
    unsafe chunks.append(chunk)
    unsafe cursor = unsafe chunk
    unsafe lastStart = unsafe chunk + (chunkByteCount - largestByteCount)
  }

  /// Keeps `sorted` in place of the entries; `spare` is not needed any more.
  func adopt(sorted: UnsafeMutablePointer<Entry>, spare: UnsafeMutablePointer<Entry>) {
    unsafe spare.deallocate()
    unsafe entries = unsafe sorted
    unsafe capacity = unsafe count
  }

  @inline(never) private func growEntries() {
    let larger = unsafe UnsafeMutablePointer<Entry>.allocate(capacity: max(64, capacity * 2))
    unsafe larger.update(from: entries, count: count)
    unsafe entries.deallocate()
    unsafe entries = unsafe larger
    unsafe capacity = unsafe max(64, capacity * 2)
  }
}
