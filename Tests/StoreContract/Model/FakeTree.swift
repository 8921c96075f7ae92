import CambiumCore
import Synchronization

/// A tree of two levels that needs no engine: a root page that lists pages of random bytes.
///
/// Each child's length and bytes follow from a seed that the root keeps beside the reference, so
/// that the whole content of a version is a list of seeds, and reading it proves every byte.
public struct FakeTree {
  /// The seeds of a version's children.
  public typealias Content = [UInt64]

  /// What reading a version found.
  public struct Reading {
    /// The seeds.
    public var content: Content
    /// The children, in the order of the seeds.
    public var children: [PageReference]
    /// The extents of all pages, sorted by address.
    public var extents: [Extent]
  }

  private static let entryByteCount = PageReference.byteCount + 8

  /// The bytes of a child, whole units of them.
  public static func bytes(seed: UInt64, largestUnitCount: Int = 200) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    let isLarge = Int.random(in: 0..<16, using: &generator) == 0
    let unitCount = Int.random(in: 1...(isLarge ? largestUnitCount : 40), using: &generator)
    return unsafe [UInt8](unsafeUninitializedCapacity: unitCount * 64) { buffer, count in
      let words = unsafe UnsafeMutableRawBufferPointer(buffer).bindMemory(to: UInt64.self)
      for index in words.indices { unsafe words[index] = generator.next() }
      count = unitCount * 64
    }
  }

  /// Writes `bytes`, padded to whole units.
  public static func write(
    _ bytes: [UInt8], _ writer: any PageWriter
  ) throws(StoreError) -> PageReference {
    var padded = bytes
    let extent = try writer.allocate(byteCount: bytes.count)
    padded += [UInt8](repeating: 0, count: extent.byteCount - bytes.count)
    try writer.write(padded.span, to: extent)
    let checksum = Checksum.hash(padded.span)
    return PageReference(checksum: checksum, extent: extent, kind: .overflow, born: writer.version)
  }

  /// Reads the newest version; throws when a byte is not as it was written.
  public static func read(_ store: any PageStore) throws(StoreError) -> Reading {
    try read(store.pin(), store)
  }

  /// Reads the version that `pin` holds; throws when a byte is not as it was written.
  public static func read(_ pin: Pin, _ store: any PageStore) throws(StoreError) -> Reading {
    try read(pin.head.root, pin, store)
  }

  /// Reads the tree at `root`, of the version that `pin` holds or of the write that began there; throws when
  /// a byte is not as it was written.
  public static func read(
    _ root: TreeRoot, _ pin: Pin, _ store: any PageStore
  ) throws(StoreError) -> Reading {
    defer { withExtendedLifetime(pin) {} }
    if root.isEmpty { return Reading(content: [], children: [], extents: []) }
    let page = try checked(root.reference, pin, store)
    defer { withExtendedLifetime(page) {} }
    let count = unsafe Int(page.bytes.loadUnaligned(as: UInt64.self))
    var reading = Reading(content: [], children: [], extents: [root.reference.extent])
    for index in 0..<count {
      let entry = unsafe page.bytes + 8 + index * entryByteCount
      let reference = unsafe PageReference(loadingFrom: entry)
      let seed = unsafe entry.loadUnaligned(
        fromByteOffset: PageReference.byteCount, as: UInt64.self)
      _ = try checked(reference, pin, store)
      let expected = sum(seed: seed)
      guard expected.byteCount == reference.byteCount, expected.hash == reference.checksum else {
        throw .damaged(Damage(.checksum, at: reference, "not the bytes that were written"))
      }
      reading.content.append(seed)
      reading.children.append(reference)
      reading.extents.append(reference.extent)
    }
    reading.extents.sort { $0.address < $1.address }
    return reading
  }

  /// What the bytes of some seeds hash to; they are read over and over.
  private static let sums = Mutex<[UInt64: (byteCount: Int, hash: UInt64)]>([:])

  private static func sum(seed: UInt64) -> (byteCount: Int, hash: UInt64) {
    if let known = sums.withLock({ $0[seed] }) { return known }
    let bytes = bytes(seed: seed)
    let sum = unsafe (
      byteCount: bytes.count, hash: bytes.withUnsafeBytes { unsafe Checksum.hash($0) }
    )
    sums.withLock { sums in
      if sums.count > 100_000 { sums = [:] }
      sums[seed] = sum
    }
    return sum
  }

  private static func checked(
    _ reference: PageReference, _ pin: Pin, _ store: any PageStore
  ) throws(StoreError) -> Page {
    let page = try store.read(reference, at: pin)
    defer { withExtendedLifetime(page) {} }
    guard unsafe Checksum.hash(page.bytes, reference.byteCount) == reference.checksum else {
      throw .damaged(Damage(.checksum, at: reference, "the bytes do not match their checksum"))
    }
    return unsafe Page(bytes: page.bytes, byteCount: reference.byteCount, owner: page.owner)
  }

  /// Writes a few children again that the store would like to have elsewhere.
  private static func moveDown(
    _ children: inout [PageReference], _ content: Content, _ writer: any PageWriter
  ) throws(StoreError) {
    guard let relocation = writer.relocation else { return }
    var left = 3
    for index in children.indices where left > 0 {
      let child = children[index]
      guard relocation.contains(child.extent), child.born > relocation.seenUpTo else {
        continue
      }
      writer.free(child)
      children[index] = try write(bytes(seed: content[index]), writer)
      left -= 1
    }
  }

  /// Changes up to `changeCount` children at random and writes the new root without publishing it.
  ///
  /// With `dropsMany`, three of four children go now and then.
  public static func change(
    _ writer: any PageWriter, _ store: any PageStore, changeCount: Int, dropsMany: Bool = false,
    generator: inout SeededGenerator
  ) throws(StoreError) -> (root: TreeRoot, content: Content) {
    let before = try read(store)
    var content = before.content
    var children = before.children
    if Bool.random(using: &generator) { try writer.reserve(byteCount: changeCount * 2000) }
    if dropsMany, content.count > 16, Int.random(in: 0..<12, using: &generator) == 0 {
      for index in content.indices.reversed() where index % 4 > 0 {
        writer.free(children[index])
        content.remove(at: index)
        children.remove(at: index)
      }
    }
    for _ in 0..<changeCount {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0 where !content.isEmpty:
        let index = Int.random(in: content.indices, using: &generator)
        writer.free(children[index])
        content.remove(at: index)
        children.remove(at: index)
      case 1, 2:
        let seed = generator.next()
        children.append(try write(bytes(seed: seed), writer))
        content.append(seed)
      default:
        guard !content.isEmpty else { continue }
        let index = Int.random(in: content.indices, using: &generator)
        let seed = generator.next()
        writer.free(children[index])
        children[index] = try write(bytes(seed: seed), writer)
        content[index] = seed
      }
    }
    try moveDown(&children, content, writer)
    if !writer.base.root.isEmpty { writer.free(writer.base.root.reference) }
    if content.isEmpty { return (.empty(.key), []) }
    var page: [UInt8] = unsafe withUnsafeBytes(of: UInt64(content.count)) { unsafe Array($0) }
    for (seed, child) in zip(content, children) {
      unsafe page += [UInt8](unsafeUninitializedCapacity: PageReference.byteCount) {
        buffer, count in
        if let base = buffer.baseAddress { unsafe child.store(to: base) }
        count = PageReference.byteCount
      }
      unsafe withUnsafeBytes(of: seed) { unsafe page.append(contentsOf: $0) }
    }
    let reference = try write(page, writer)
    let root = TreeRoot(
      reference: reference, height: 1, kind: .key, rowCount: UInt64(content.count))
    return (root, content)
  }
}
