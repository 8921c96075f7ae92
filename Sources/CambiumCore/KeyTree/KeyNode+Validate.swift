/// The complete check of a stored node, after which no entry leads out of its page.
extension KeyNode {
  /// Throws ``StoreError/damaged(_:)`` naming the first broken rule of the node in `page`.
  ///
  /// `isUnstored` says that it lies in memory: what it refers to may lie there, too.
  static func validate(
    _ page: Page, _ reference: PageReference, _ kind: PageKind, isUnstored: Bool = false
  ) throws(StoreError) {
    let isLeaf = kind == .keyLeaf
    let least = headerByteCount + (isLeaf ? 1 : 2) * slotByteCount
    guard page.byteCount >= least, page.byteCount >= branchCellHeader else {
      throw .damaged(Damage(.bounds, at: reference, "a node of \(page.byteCount) bytes"))
    }
    guard unsafe page.bytes.load(as: UInt8.self) == kind.rawValue,
      unsafe page.bytes.load(fromByteOffset: 1, as: UInt8.self) == 0
    else { throw .damaged(Damage(.kind, at: reference, "the page is no \(kind)")) }

    // What the node made of its header counts from here on: the bytes may change under a mapping.
    let node = KeyNode(page)
    let heap = node.heapByteCount
    guard node.count >= (isLeaf ? 1 : 2), node.end <= maximumByteCount,
      node.field(Field.count) == node.count,
      node.field(Field.end) == node.end, node.field(Field.heap) == heap
    else {
      throw .damaged(
        Damage(.bounds, at: reference, "\(node.count) entries in \(node.end) bytes"))
    }
    let prefixOffset = node.end - node.prefixStart
    guard node.field(Field.prefixLength) == node.prefixLength,
      node.field(Field.prefixOffset) == prefixOffset, prefixOffset <= heap,
      node.field(Field.garbage) == 0
    else { throw .damaged(Damage(.bounds, at: reference, "the prefix leaves the heap")) }

    var tiling = HeapTiling(byteCount: heap)
    defer { tiling.deallocate() }
    tiling.add(offset: prefixOffset, byteCount: node.prefixLength)
    if isLeaf {
      try node.validateLeaf(reference, &tiling)
    } else {
      try node.validateBranch(reference, &tiling, isUnstored: isUnstored)
    }
    guard tiling.isExact else {
      throw .damaged(Damage(.bounds, at: reference, "cells overlap or leave gaps"))
    }
    try node.validateOrder(reference, from: isLeaf ? 0 : 1)
  }

  /// How many bytes lie behind the slots of a stored node.
  private var heapByteCount: Int { end - Self.headerByteCount - count * Self.slotByteCount }

  func field(_ offset: Int) -> Int {
    unsafe Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  /// Checks that the cell of entry `index` with `header` and at least the rest of its key lies in
  /// the heap; returns its offset back from the end and the size of both.
  private func validateCell(
    _ index: Int, header: Int, _ reference: PageReference
  ) throws(StoreError) -> (offset: Int, byteCount: Int) {
    let slot = slot(index)
    let byteCount = header + slot.restLength
    guard slot.offset <= heapByteCount, byteCount <= slot.offset else {
      throw .damaged(Damage(.bounds, at: reference, "entry \(index) leaves the page"))
    }
    guard prefixLength + slot.suffixLength <= Self.maximumKeyByteCount else {
      throw .damaged(Damage(.bounds, at: reference, "key \(index) is too long"))
    }
    if slot.suffixLength < 4, slot.head << UInt32(8 * slot.suffixLength) != 0 {
      throw .damaged(Damage(.encoding, at: reference, "the head of key \(index)"))
    }
    return (slot.offset, byteCount)
  }

  private func validateLeaf(
    _ reference: PageReference, _ tiling: inout HeapTiling
  ) throws(StoreError) {
    var overflowCount = 0
    for index in 0..<count {
      let cell = try validateCell(index, header: Self.leafCellHeader, reference)
      var length = field(end - cell.offset)
      let isOverflow = length == Self.overflowMark
      if isOverflow {
        length = OverflowValue.storedByteCount
        overflowCount += 1
      } else if length > Self.maximumInlineByteCount {
        throw .damaged(Damage(.bounds, at: reference, "value \(index) is too long"))
      }
      guard cell.byteCount + length <= cell.offset else {
        throw .damaged(Damage(.bounds, at: reference, "value \(index) leaves the page"))
      }
      if isOverflow {
        let value = unsafe OverflowValue(loadingFrom: bytes + end - cell.offset + cell.byteCount)
        guard value.isWellFormed else {
          throw .damaged(Damage(.encoding, at: reference, "overflow value \(index)"))
        }
      }
      tiling.add(offset: cell.offset, byteCount: cell.byteCount + length)
    }
    guard overflowCount == field(Field.overflow) else {
      throw .damaged(Damage(.count, at: reference, "the number of overflow values"))
    }
  }

  private func validateBranch(
    _ reference: PageReference, _ tiling: inout HeapTiling, isUnstored: Bool
  ) throws(StoreError) {
    guard slot(0).suffixLength == 0, slot(0).head == 0, field(Field.overflow) == 0 else {
      throw .damaged(Damage(.encoding, at: reference, "the first separator is not empty"))
    }
    let childKind = child(0).rawKind
    for index in 0..<count {
      let cell = try validateCell(index, header: Self.branchCellHeader, reference)
      let child = child(index)
      guard child.rawKind == childKind, !child.isNone, isUnstored || !child.isDirty,
        child.unitCount > 0,
        childKind == PageKind.keyLeaf.rawValue || childKind == PageKind.keyBranch.rawValue
      else { throw .damaged(Damage(.reference, at: reference, "child \(index)")) }
      let rowCount = unsafe (bytes + end - cell.offset + PageReference.byteCount).loadUnaligned(
        as: UInt64.self)
      guard UInt64(littleEndian: rowCount) &- 1 < (1 << 48) - 1 else {
        throw .damaged(Damage(.count, at: reference, "the rows below child \(index)"))
      }
      tiling.add(offset: cell.offset, byteCount: cell.byteCount)
    }
  }

  private func validateOrder(
    _ reference: PageReference, from first: Int
  ) throws(StoreError) {
    let header = first == 0 ? Self.leafCellHeader : Self.branchCellHeader
    var index = first + 1
    while index < count {
      let left = slot(index - 1)
      let right = slot(index)
      if left.head >= right.head {
        let leftRest = unsafe rest(left, cell: cell(left, header: header), header: header)
        let rightRest = unsafe rest(right, cell: cell(right, header: header), header: header)
        let order = unsafe ByteComparison.order(leftRest, rightRest)
        guard left.head == right.head, order < 0 || left.suffixLength < right.suffixLength,
          order <= 0
        else { throw .damaged(Damage(.order, at: reference, "keys \(index - 1) and \(index)")) }
      }
      index += 1
    }
  }
}

/// Proves that pieces cover a heap without gap or overlap.
///
/// Each piece flips a bit where it begins and one where it ends. If in the end only those at both
/// ends of the heap are set, every byte is covered an odd number of times; if the lengths add up to
/// the heap's as well, every byte is covered once.
///
/// Pointers: `flips` has a bit for every place of the heap and one more; validation calls
/// `deallocate()` however it ends. Pieces were checked to lie within the heap.
@safe private struct HeapTiling {
  private let flips: UnsafeMutablePointer<UInt64>
  private let wordCount: Int
  private let byteCount: Int
  private var covered = 0

  init(byteCount: Int) {
    self.byteCount = byteCount
    wordCount = byteCount / 64 + 1
    unsafe flips = .allocate(capacity: wordCount)
    unsafe flips.initialize(repeating: 0, count: wordCount)
    flip(0)
    flip(byteCount)
  }

  func deallocate() { unsafe flips.deallocate() }

  private func flip(_ position: Int) { unsafe flips[position >> 6] ^= 1 << UInt64(position & 63) }

  /// Adds a piece that begins `offset` bytes, at most the heap's length, before the heap's end and
  /// does not reach beyond it.
  mutating func add(offset: Int, byteCount: Int) {
    covered += byteCount
    flip(offset)
    flip(offset - byteCount)
  }

  var isExact: Bool {
    covered == byteCount && (0..<wordCount).allSatisfy { unsafe flips[$0] == 0 }
  }
}
