import TestSupport
import Testing

@testable import CambiumCore

/// The form of a stored node, and how little it takes to be refused.
struct KeyNodeTests {
  private static func page(_ kind: PageKind, _ fill: (KeyPage) throws -> Void) -> [UInt8] {
    let page = KeyPage(kind: kind, capacity: 1024)
    do { try fill(page) } catch { preconditionFailure("\(error)") }
    let byteCount = page.tighten()
    return [UInt8](UnsafeRawBufferPointer(start: page.bytes, count: byteCount))
  }

  private static let stem: [UInt8] = Array("stem".utf8)

  private static func leaf() -> [UInt8] {
    page(.keyLeaf) { page in
      let entries = KeyEntryList(isLeaf: true)
      for (key, value) in [("stem", "v"), ("stemab", ""), ("stemabcdef", "xyz")] {
        Array(key.utf8).withUnsafeBytes { key in
          Array(value.utf8).withUnsafeBytes { value in
            entries.append(key, StoredValue(bytes: value, isOverflow: false))
          }
        }
      }
      let overflow = OverflowValue(byteCount: 5000, reference: reference(.overflow, 9))
      let form = [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
        overflow.store(to: buffer.baseAddress.unsafelyUnwrapped)
        count = 32
      }
      form.withUnsafeBytes { form in
        Array("stemz".utf8).withUnsafeBytes { key in
          entries.append(key, StoredValue(bytes: form, isOverflow: true))
        }
      }
      try entries.fill(page, 0..<4)
    }
  }

  private static func reference(_ kind: PageKind, _ address: UInt64) -> PageReference {
    PageReference(
      checksum: 0x1122_3344_5566_7788, extent: Extent(address: address, unitCount: 2), kind: kind,
      born: 3)
  }

  private static func branch() -> [UInt8] {
    page(.keyBranch) { page in
      let entries = KeyEntryList(isLeaf: false)
      for (index, separator) in ["", "stema", "stemabcdz", "stemb"].enumerated() {
        Array(separator.utf8).withUnsafeBytes {
          entries.appendChild($0, reference(.keyLeaf, UInt64(index + 1)), rowCount: index + 10)
        }
      }
      try entries.fill(page, 0..<4)
    }
  }

  private static func isValid(_ bytes: [UInt8], _ kind: PageKind) -> Bool {
    let buffer = PageBuffer(byteCount: bytes.count)
    bytes.withUnsafeBytes {
      buffer.bytes.copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: bytes.count)
    }
    do throws(StoreError) {
      try KeyNode.validate(buffer.page, reference(kind, 5), kind)
      return true
    } catch {
      return false
    }
  }

  @Test func `a leaf has the documented form`() {
    let slots: [UInt8] =
      [0, 0, 0, 0, 7, 0, 0, 0]
      + [0, 0, 0x62, 0x61, 9, 0, 2, 0]
      + [0x64, 0x63, 0x62, 0x61, 16, 0, 6, 0]
      + [0, 0, 0, 0x7a, 50, 0, 1, 0]
    let header: [UInt8] = [1, 0, 4, 0, 4, 0, 4, 0, 98, 0, 50, 0, 0, 0, 1, 0]
    let reference: [UInt8] =
      [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11] + [2, 0, 9, 0, 0, 0, 0, 0]
      + [5, 0, 3, 0, 0, 0, 0, 0]
    let heap: [UInt8] =
      [0xff, 0xff, 0x88, 0x13, 0, 0, 0, 0, 0, 0] + reference
      + [3, 0] + Array("efxyz".utf8) + [0, 0] + [1, 0] + Array("v".utf8) + Self.stem
    let padding = [UInt8](repeating: 0, count: 128 - 98)
    #expect(Self.leaf() == header + slots + heap + padding)
    #expect(Self.isValid(Self.leaf(), .keyLeaf))
  }

  @Test func `a branch has the documented form`() {
    let bytes = Self.branch()
    #expect(bytes.prefix(16) == [2, 0, 4, 0, 4, 0, 4, 0, 181, 0, 133, 0, 0, 0, 0, 0])
    let slots: [UInt8] =
      [0, 0, 0, 0, 36, 0, 0, 0]
      + [0, 0, 0, 0x61, 68, 0, 1, 0]
      + [0x64, 0x63, 0x62, 0x61, 101, 0, 5, 0]
      + [0, 0, 0, 0x62, 133, 0, 1, 0]
    #expect(Array(bytes[16..<48]) == slots)
    let last = bytes[48..<80]
    #expect(last.suffix(8) == [13, 0, 0, 0, 0, 0, 0, 0])
    #expect(bytes[112] == 0x7a)
    #expect(Self.isValid(bytes, .keyBranch))
    #expect(!Self.isValid(bytes, .keyLeaf))
  }

  @Test func `no byte of a node can change unseen but keys, values, counts and addresses`() {
    for (bytes, kind) in [(Self.leaf(), PageKind.keyLeaf), (Self.branch(), .keyBranch)] {
      for offset in 0..<16 where offset != 14 || kind == .keyLeaf {
        for bit in 0..<8 {
          var changed = bytes
          changed[offset] ^= 1 << UInt8(bit)
          #expect(!Self.isValid(changed, kind), "byte \(offset), bit \(bit)")
        }
      }
      let count = Int(bytes[2])
      for index in 0..<count {
        // Offsets and lengths of slots. A length up to four may change within the head's padding:
        // that makes another key.
        for offset in 16 + index * 8 + 4..<16 + index * 8 + 8 {
          for bit in (offset % 8 == 6 ? 3 : 0)..<8 {
            var changed = bytes
            changed[offset] ^= 1 << UInt8(bit)
            #expect(!Self.isValid(changed, kind), "byte \(offset), bit \(bit)")
          }
        }
      }
    }
  }

  @Test func `keys out of order, cells twice and children of two kinds are refused`() {
    var swapped = Self.leaf()
    for offset in 0..<8 { swapped.swapAt(16 + offset, 24 + offset) }
    #expect(!Self.isValid(swapped, .keyLeaf))
    var doubled = Self.branch()
    for offset in 4..<6 { doubled[24 + offset] = doubled[40 + offset] }
    #expect(!Self.isValid(doubled, .keyBranch))
    var mixed = Self.branch()
    mixed[48 + 16] = PageKind.keyBranch.rawValue
    #expect(!Self.isValid(mixed, .keyBranch))
    var dirty = Self.branch()
    for offset in 8..<16 { dirty[48 + offset] = 0xff }
    #expect(!Self.isValid(dirty, .keyBranch))
  }

  /// All that can be read of a node, as one number.
  private static func digest(_ node: KeyNode, isLeaf: Bool) -> Int {
    var hasher = Hasher()
    let header = isLeaf ? KeyNode.leafCellHeader : KeyNode.branchCellHeader
    hasher.combine(bytes: node.prefix)
    for index in 0..<node.count {
      let key = node.key(index, header: header)
      hasher.combine(key)
      if isLeaf {
        hasher.combine(bytes: node.storedValue(index).bytes)
        if node.keyByteCount(index) >= 8 { hasher.combine(node.keyTail(index, header: header)) }
      } else {
        hasher.combine(node.child(index))
        hasher.combine(node.childRowCount(index))
      }
      key.withUnsafeBytes { key in
        hasher.combine(node.search(key, from: isLeaf ? 0 : 1, header: header).index)
        hasher.combine(node.order(index, header: header, key))
        hasher.combine(node.hasPrefix(index, header: header, key))
      }
    }
    return hasher.finalize()
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `no read leaves the page, whatever its bytes`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var acceptedCount = 0
    for round in 0..<300 {
      let isLeaf = Bool.random(using: &random)
      var bytes = isLeaf ? Self.leaf() : Self.branch()
      if round % 10 == 0 {
        for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &random) }
      }
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        // Mostly the header and the slots: what leads elsewhere.
        let place = Int.random(
          in: 0..<(Bool.random(using: &random) ? 48 : bytes.count), using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      // The same page between two kinds of surroundings must read the same.
      let digests = [UInt8(0), 0xa5].map { surroundings in
        let memory = UnsafeMutableRawBufferPointer.allocate(
          byteCount: bytes.count + 2048, alignment: 64)
        defer { memory.deallocate() }
        for index in memory.indices { memory[index] = surroundings }
        let page = UnsafeMutableRawBufferPointer(rebasing: memory[1024..<1024 + bytes.count])
        page.copyBytes(from: bytes)
        return Self.digest(
          KeyNode(page.baseAddress.unsafelyUnwrapped, byteCount: bytes.count), isLeaf: isLeaf)
      }
      #expect(digests[0] == digests[1])
      if Self.isValid(bytes, isLeaf ? .keyLeaf : .keyBranch) { acceptedCount += 1 }
    }
    // Some changes are harmless, most are not.
    #expect(acceptedCount < 200)
  }
}
