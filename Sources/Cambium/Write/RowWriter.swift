import CambiumCore

/// Gathers the cells of one new row.
///
/// Public because property types meet it; nothing of it is.
/// Bytes are copied into memory that lasts until the next row begins.
@safe public final class _RowWriter {
  // Exclusivity is not checked: a row has one writer, and each access ends before the next.
  unowned(unsafe) let realm: RealmInstance
  /// Where the next cell goes.
  @exclusivity(unchecked) var position = 0
  /// The class whose row it is, while one with links is gathered; its session keeps it.
  @exclusivity(unchecked) unowned(unsafe) var access: ClassAccess?
  /// Which property of that class the next cell is of.
  @exclusivity(unchecked) var property = 0
  /// The cells gathered so far, in the order of the table's columns.
  @exclusivity(unchecked) private(set) var cells: [ColumnValue] = []
  /// The targets of lists of links, with the position of the list's cell.
  @exclusivity(unchecked) private(set) var listTargets: [(position: Int, keys: [Int64])] = []
  /// The objects that collections of values of any type hold, with the position of the collection's cell.
  @exclusivity(unchecked) private(set) var anyLinks: [(position: Int, link: StoredAnyLink)] = []
  @exclusivity(unchecked) private var chunk = unsafe UnsafeMutableRawBufferPointer(
    start: nil, count: 0)
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private var fullChunks: [UnsafeMutableRawBufferPointer] = unsafe []

  init(realm: RealmInstance) { unsafe self.realm = realm }

  deinit {
    unsafe fullChunks.forEach { unsafe $0.deallocate() }
    unsafe chunk.deallocate()
  }

  /// Begins a row with the given cells.
  func begin(_ defaults: [ColumnValue]) {
    unsafe cells.removeAll(keepingCapacity: true)
    unsafe cells.append(contentsOf: defaults)
    forgetLast()
  }

  /// Begins a row of one cell.
  func beginOne() {
    unsafe cells.removeAll(keepingCapacity: true)
    unsafe cells.append(.null)
    unsafe position = 0
    forgetLast()
  }

  /// Forgets what the last row had besides its cells.
  private func forgetLast() {
    if unsafe !listTargets.isEmpty { unsafe listTargets = [] }
    if unsafe !anyLinks.isEmpty { unsafe anyLinks = [] }
    unsafe used = 0
    unsafe fullChunks.forEach { unsafe $0.deallocate() }
    if unsafe !fullChunks.isEmpty { unsafe fullChunks = unsafe [] }
  }

  /// The class that the current property links to.
  var target: ClassAccess? { unsafe access?.target(property) }

  /// Sets the cell at the current position.
  func append(_ cell: ColumnValue) {
    if case .bytes(let bytes) = cell {
      unsafe cells[position] = unsafe .bytes(copy(bytes))
    } else {
      unsafe cells[position] = cell
    }
  }

  /// Sets the cell at the current position to bytes.
  func append(_ bytes: [UInt8]) {
    unsafe cells[position] = unsafe .bytes(bytes.withUnsafeBytes { unsafe copy($0) })
  }

  /// Notes that the cell at the current position is a list of links to `keys`.
  func noteTargets(_ keys: [Int64]) { unsafe listTargets.append((position, keys)) }

  /// Notes what values of any type in the collection at the current position link to.
  func noteAnyLinks(in cells: [ColumnValue]) {
    for link in cells.flatMap({ StoredAny.links(in: $0) }) {
      unsafe anyLinks.append((position, link))
    }
  }

  /// A copy of `cell` that lasts as long as the row.
  func lasting(_ cell: ColumnValue) -> ColumnValue {
    if case .bytes(let bytes) = cell { unsafe .bytes(copy(bytes)) } else { cell }
  }

  private func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    if unsafe bytes.isEmpty { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    if unsafe chunk.count - used < bytes.count {
      if unsafe !chunk.isEmpty { unsafe fullChunks.append(chunk) }
      unsafe chunk = unsafe .allocate(
        byteCount: max(chunk.isEmpty ? 256 : 1 << 14, bytes.count), alignment: 16)
      unsafe used = 0
    }
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: chunk[used..<used + bytes.count])
    unsafe target.copyMemory(from: bytes)
    unsafe used += bytes.count
    return UnsafeRawBufferPointer(target)
  }
}
