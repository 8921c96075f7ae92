import CambiumCore

/// A slot's head and those that follow it, each in a block among its own commit's pages.
///
/// A small commit after another one writes its head where the head before says, so that pages and head
/// are one write, if there is room side by side. A head belongs to a chain when it names the one before by its checksum; and it was
/// written only after the one before had been synced, so that all but the last are durable for
/// certain.
struct HeadChain {
  /// Oldest first; the first one is the slot's.
  private(set) var heads: [HeadSector]

  /// The last one.
  var tip: HeadSector { heads[heads.count - 1] }

  /// The last one that is durable because another one follows it; nil when none does.
  var proven: HeadSector? {
    guard heads.count > 1 else { return nil }
    var head = heads[heads.count - 2]
    head.durable = head.head.version
    return head
  }

  /// Forgets the heads of versions above `version`, but for the slot's own.
  mutating func end(at version: Version) {
    while heads.count > 1, tip.head.version > version { heads.removeLast() }
  }

  /// No chain is followed further; a hostile file could lead in circles.
  private static let limit = 1 << 16

  /// Reads the chain that begins with a slot's head.
  init(
    from slotHead: HeadSector, identity: IdentitySector, device: any Device, path: String
  ) throws(StoreError) {
    heads = [slotHead]
    var link = slotHead.checksum
    while tip.next > 0, heads.count < Self.limit {
      let offset = tip.next * FileLayout.blockByteCount
      let stored = try FileOpening.readSector(device, at: offset, path: path)
      let place = HeadSector.place(atByte: offset)
      guard let head = HeadSector(stored: stored, identity: identity, at: place), head.link == link,
        head.head.version == tip.head.version + 1, head.durable == tip.head.version,
        head.head.epoch == tip.head.epoch, head.sequence == tip.sequence,
        !head.isSettled
      else { break }
      link = head.checksum
      heads.append(head)
    }
  }
}
