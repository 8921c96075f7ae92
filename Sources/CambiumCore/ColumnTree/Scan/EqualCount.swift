import CPlatform

/// Counts the values of leaves that equal some bytes.
///
/// The few values of the right length lie all over a leaf: they are asked for with one leaf, and
/// compared with the next one, when they have arrived.
///
/// Pointers: `places` is its own, freed in the deinit, and has room for all rows of the leaf added last. What
/// it names lies in that leaf, which the pin or the transaction keeps; where something else owns it, it is
/// compared at once. The leaf's slack lets 8 bytes be read of the shortest value. The needle outlives the
/// count.
@safe struct EqualCount: ~Copyable {
  private let needle: UnsafeRawBufferPointer
  /// Where values of the right length lie.
  private var places: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private var capacity = 512
  private var placeCount = 0
  /// The bytes they are to equal, behind what the leaf factors out.
  private var body = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  private var total = 0

  /// Counts values that equal `needle`, which outlives the count.
  init(_ needle: UnsafeRawBufferPointer) {
    unsafe self.needle = unsafe needle
    unsafe places = .allocate(capacity: capacity)
  }

  deinit { unsafe places.deallocate() }

  /// Counts those of a leaf; false, and nothing is counted, unless they lie one after another, with
  /// lengths of one byte, none of them null or outside of the leaf.
  ///
  /// The leaf stays while the count goes on, unless something owns it.
  @inline(__always) mutating func add(_ column: LeafColumn) -> Bool {
    guard column.encoding == .variable, column.lengthWidth == 8, unsafe column.nulls == nil,
      unsafe column.overflow == nil, let parts = BytesColumn(column)
    else { return false }
    compare()
    guard let body = unsafe parts.body(of: needle) else { return true }
    if column.rowCount > capacity { grow(to: column.rowCount) }
    unsafe self.body = unsafe body
    var values = unsafe parts.shortValues
    placeCount = unsafe Int(cambium_places_of_length(&values, body.count, places))
    if column.owner != nil { compare() }
    return true
  }

  /// How many there were.
  mutating func finish() -> Int {
    compare()
    return total
  }

  /// Compares the values that were asked for.
  @inline(__always) private mutating func compare() {
    if placeCount == 0 { return }
    // An empty needle has no address.
    let start = unsafe body.baseAddress ?? UnsafeRawPointer(places)
    var needle = unsafe cambium_make_needle(start.assumingMemoryBound(to: CChar.self), body.count)
    unsafe total &+= Int(cambium_count_equal(places, placeCount, &needle))
    placeCount = 0
  }

  private mutating func grow(to count: Int) {
    unsafe places.deallocate()
    capacity = count
    unsafe places = .allocate(capacity: count)
  }
}
