import CambiumCore

/// The leaf in which a row was last found: keys that are asked for often lie near each other.
///
/// Belongs to one context, and is trusted for as long as its generation is current. The leaf lies in
/// memory of its own, where its fields are read one by one instead of copying all of it.
///
/// Pointers: owns and frees the leaf's memory, which holds one while `isSet`.
@safe final class RememberedLeaf {
  // Exclusivity is not checked: one user, and no access to these calls out.
  private let leaf: UnsafeMutablePointer<ColumnLeaf>
  @exclusivity(unchecked) private var isSet = false
  @exclusivity(unchecked) private var next = 0
  @exclusivity(unchecked) private var generation: UInt64 = 0

  init() { unsafe leaf = .allocate(capacity: 1) }

  deinit {
    if unsafe isSet { unsafe leaf.deinitialize(count: 1) }
    unsafe leaf.deallocate()
  }

  /// Remembers a leaf that was found in `generation`.
  func set(_ leaf: ColumnLeaf, _ generation: UInt64) {
    if unsafe isSet {
      unsafe self.leaf.pointee = leaf
    } else {
      unsafe self.leaf.initialize(to: leaf)
    }
    unsafe isSet = true
    unsafe next = 0
    unsafe self.generation = generation
  }

  /// The place of `key` in the leaf; nil when it is not there or the leaf is out of date.
  ///
  /// The row behind the last one is tried first.
  @inline(__always) func find(_ key: Int64, _ generation: UInt64) -> Int? {
    guard unsafe generation == self.generation, unsafe isSet else { return nil }
    if unsafe next < leaf.pointee.rowCount, unsafe leaf.pointee.key(at: next) == key {
      unsafe next = unsafe next &+ 1
      return unsafe next &- 1
    }
    guard let row = unsafe leaf.pointee.find(key) else { return nil }
    unsafe next = row &+ 1
    return row
  }

  /// A row of the leaf.
  @inline(__always) func row(_ index: Int) -> LeafRow { unsafe LeafRow(leaf.pointee, index) }

  /// What keeps the leaf's bytes alive, unless the snapshot does.
  @inline(__always) var owner: AnyObject? { unsafe leaf.pointee.page.owner }

  /// A copy of the leaf.
  var value: ColumnLeaf { unsafe leaf.pointee }
}
