import CPlatform

/// A branch of a ``ColumnTree``, read in place; all integers are little-endian.
///
///      0      1       2       4       6       7   16
///     | kind | level | count | room  | flags | 0 | separators  | references    | row counts   |
///     |      |       | 16    | 16    |       |   | 8 × room    | 24 × room     | 8 × room     |
///
/// Level 1 holds leaves. No key below child *i* is under separator *i*, and every key below the
/// children before it is; separator 0 says nothing. In a tree by position (flag bit 0)
/// separators are zero.
/// `room` is at least `count`; what lies between them is zero.
///
/// Pointers: they lead into `page`, which is kept by its owner or, where it has none, by the snapshot or the
/// transaction that read it. `count` is 0 unless the room for all children lies within the page. Callers turn
/// down a branch without children, and ask only for children below `count`.
@safe @usableFromInline struct ColumnBranch {
  static let levelOffset = 1
  static let countOffset = 2
  static let roomOffset = 4
  static let flagsOffset = 6
  static let headerByteCount = 16
  /// The flag of a branch without separators.
  static let isPositional: UInt8 = 1
  /// The room of a full branch: 4 KiB.
  static let maximumRoom = 102

  @usableFromInline let page: Page
  @usableFromInline let level: Int
  @usableFromInline let count: Int
  @usableFromInline let separators: UnsafeRawPointer
  @usableFromInline let references: UnsafeRawPointer
  @usableFromInline let counts: UnsafeRawPointer

  static func byteCount(room: Int) -> Int { headerByteCount + room * 40 }

  /// Reads a page that was validated; children that lead out of it all the same do not exist.
  @inlinable @inline(__always) init(_ page: Page) {
    let bytes = unsafe page.bytes
    self.page = page
    guard page.byteCount >= 16 else {
      unsafe (level, count, separators, references, counts) = unsafe (0, 0, bytes, bytes, bytes)
      return
    }
    let room = unsafe Int(
      UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self)))
    let children = unsafe Int(
      UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
    level = unsafe Int(bytes.load(fromByteOffset: 1, as: UInt8.self))
    count = children <= room && 16 &+ room &* 40 <= page.byteCount ? children : 0
    unsafe separators = unsafe bytes + 16
    unsafe references = unsafe separators + room &* 8
    unsafe counts = unsafe references + room &* 24
  }

  var isPositional: Bool { unsafe page.bytes.byte(Self.flagsOffset) & Self.isPositional != 0 }

  @inlinable @inline(__always) func separator(_ index: Int) -> Int64 {
    unsafe Int64(littleEndian: separators.loadUnaligned(fromByteOffset: index &* 8, as: Int64.self))
  }

  @inlinable @inline(__always) func reference(_ index: Int) -> PageReference {
    unsafe PageReference(loadingFrom: references + index &* 24)
  }

  @inlinable @inline(__always) func rowCount(_ index: Int) -> UInt64 {
    unsafe UInt64(littleEndian: counts.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self))
  }

  /// The child whose range holds `key`.
  @inlinable @inline(__always) func child(for key: Int64) -> Int {
    unsafe Self.upperBound(separators + 8, count: count &- 1, key)
  }

  /// How many of `count` ascending integers are at or below `key`.
  @inlinable @inline(__always)
  static func upperBound(_ values: UnsafeRawPointer, count: Int, _ key: Int64) -> Int {
    // Every machine this runs on is little-endian.
    unsafe Int(cambium_upper_bound(values, count, key))
  }

  /// The rows below the children before `index`.
  @inlinable @inline(__always) func rowsBefore(_ index: Int) -> UInt64 {
    var sum: UInt64 = 0
    for child in 0..<index { sum &+= rowCount(child) }
    return sum
  }

  /// The child that holds the row at `position`, and the rows before that child; the last child
  /// when the position is past the end.
  @inlinable @inline(__always)
  func child(at position: UInt64) -> (index: Int, rowsBefore: UInt64) {
    var before: UInt64 = 0
    var index = 0
    while index &+ 1 < count {
      let rows = rowCount(index)
      if position < before &+ rows { break }
      before &+= rows
      index &+= 1
    }
    return (index, before)
  }

  /// Checks a page's whole structure; throws ``StoreError/damaged(_:)`` naming the broken rule.
  static func validate(
    _ page: Page, _ reference: PageReference, isUnstored: Bool = false
  ) throws(StoreError) {
    func fail(_ rule: Damage.Rule, _ detail: String) -> StoreError {
      .damaged(Damage(rule, at: reference, detail))
    }
    guard page.byteCount >= headerByteCount else { throw fail(.bounds, "a branch without header") }
    guard unsafe page.bytes.byte(0) == PageKind.columnBranch.rawValue else {
      throw fail(.kind, "not a column branch")
    }
    let room = unsafe Int(page.bytes.half(roomOffset))
    let count = unsafe Int(page.bytes.half(countOffset))
    guard count >= 1, count <= room, byteCount(room: room) <= page.byteCount else {
      throw fail(.bounds, "\(count) children in room for \(room) lead out of the page")
    }
    let branch = ColumnBranch(page)
    guard branch.level >= 1, branch.level < Int(TreeRoot.maximumHeight) else {
      throw fail(.height, "a branch at level \(branch.level)")
    }
    let kind = branch.level == 1 ? PageKind.columnLeaf : .columnBranch
    var total: UInt64 = 0
    let flags = unsafe page.bytes.byte(flagsOffset)
    guard flags & ~isPositional == 0 else { throw fail(.encoding, "flags \(flags) are unknown") }
    for index in 0..<count {
      let child = branch.reference(index)
      guard !child.isNone, isUnstored || !child.isDirty, child.unitCount > 0,
        child.rawKind == kind.rawValue
      else {
        throw fail(.reference, "child \(index) is not a \(kind)")
      }
      let (sum, isOver) = total.addingReportingOverflow(branch.rowCount(index))
      guard branch.rowCount(index) > 0, !isOver, sum <= TreeRoot.maximumRowCount else {
        throw fail(.count, "child \(index) has \(branch.rowCount(index)) rows")
      }
      total = sum
      if index > 1, flags == 0, branch.separator(index - 1) >= branch.separator(index) {
        throw fail(.order, "separator \(index) is not above the one before it")
      }
    }
  }
}
