import CambiumCore
import SimulatedCluster

/// A version that says which commits have led to it: a root page lists their numbers, and pages of bytes that
/// follow from a seed.
struct HistoryTree {
  var commits: [UInt64] = []
  var children: [(reference: PageReference, seed: UInt64)] = []
  var extents: [Extent] = []

  private static let childLimit = 8

  static func bytes(_ seed: UInt64, isLarge: Bool) -> [UInt8] {
    var generator = SimulationGenerator(seed: seed)
    let unitCount = 1 + Int(generator.next(below: isLarge ? 120 : 12))
    var writer = ByteWriter()
    for _ in 0..<unitCount * 8 { writer.put(generator.next()) }
    return writer.bytes
  }

  /// Reads the version that `pin` holds; throws when a byte is not as it was written.
  static func read(_ pin: Pin, _ store: any PageStore) throws(StoreError) -> HistoryTree {
    var tree = HistoryTree()
    let root = pin.head.root.reference
    if root.isNone { return tree }
    var reader = ByteReader(try checked(root, pin, store))
    tree.extents.append(root.extent)
    guard let commitCount = reader.get(UInt64.self), let childCount = reader.get(UInt64.self) else {
      throw .damaged(Damage(.bounds, at: root, "no root"))
    }
    for _ in 0..<commitCount { tree.commits.append(reader.get(UInt64.self) ?? 0) }
    var references: [(PageReference, UInt64)] = []
    for _ in 0..<childCount {
      guard let checksum = reader.get(UInt64.self), let location = reader.get(UInt64.self),
        let origin = reader.get(UInt64.self), let seed = reader.get(UInt64.self)
      else { throw .damaged(Damage(.bounds, at: root, "no child")) }
      references.append(
        (PageReference(checksum: checksum, location: location, origin: origin), seed))
    }
    if store.readAheadCount > 0 { store.prefetch(references.map(\.0), at: pin) }
    for (reference, seed) in references {
      let bytes = try checked(reference, pin, store)
      guard bytes == Self.bytes(seed >> 1, isLarge: seed & 1 == 1) else {
        throw .damaged(Damage(.checksum, at: reference, "not the bytes that were written"))
      }
      tree.children.append((reference, seed))
      tree.extents.append(reference.extent)
    }
    tree.extents.sort { $0.address < $1.address }
    return tree
  }

  private static func checked(
    _ reference: PageReference, _ pin: Pin, _ store: any PageStore
  ) throws(StoreError) -> [UInt8] {
    let page = try store.read(reference, at: pin)
    let bytes = page.withBytes { Array(copying: $0) }
    guard Checksum.hash(bytes.span) == reference.checksum else {
      throw .damaged(Damage(.checksum, at: reference, "the bytes do not match their checksum"))
    }
    return bytes
  }

  private static func write(
    _ bytes: [UInt8], _ writer: any PageWriter
  ) throws(StoreError) -> PageReference {
    let extent = try writer.allocate(byteCount: bytes.count)
    let padded = bytes + [UInt8](repeating: 0, count: extent.byteCount - bytes.count)
    try writer.write(padded.span, to: extent)
    return PageReference(
      checksum: Checksum.hash(padded.span), extent: extent, kind: .overflow, born: writer.version)
  }

  /// Writes what commit number `commit` makes of this version, which `old` hangs from; the new root.
  mutating func change(
    commit: UInt64, isLarge: Bool, old: TreeRoot, _ writer: any PageWriter,
    _ generator: inout SimulationGenerator
  ) throws(StoreError) -> TreeRoot {
    commits.append(commit)
    for _ in 0..<1 + Int(generator.next(below: 3)) {
      let seed = commit << 8 | generator.next(below: 128) << 1 | (isLarge ? 1 : 0)
      let reference = try Self.write(Self.bytes(seed >> 1, isLarge: isLarge), writer)
      if children.count < Self.childLimit {
        children.append((reference, seed))
      } else {
        let index = Int(generator.next(below: UInt64(children.count)))
        writer.free(children[index].reference)
        children[index] = (reference, seed)
      }
    }
    if let relocation = writer.relocation {
      for index in children.indices
      where relocation.contains(children[index].reference.extent)
        && children[index].reference.born > relocation.seenUpTo
        && children[index].reference.born < writer.version
      {
        let (reference, seed) = children[index]
        writer.free(reference)
        children[index].reference = try Self.write(
          Self.bytes(seed >> 1, isLarge: seed & 1 == 1), writer)
      }
    }
    var bytes = ByteWriter()
    bytes.put(UInt64(commits.count))
    bytes.put(UInt64(children.count))
    for commit in commits { bytes.put(commit) }
    for (reference, seed) in children {
      bytes.put(reference.checksum)
      bytes.put(reference.location)
      bytes.put(reference.origin)
      bytes.put(seed)
    }
    let root = try Self.write(bytes.bytes, writer)
    if !old.isEmpty { writer.free(old.reference) }
    return TreeRoot(reference: root, height: 1, kind: .key, rowCount: 1)
  }
}
