import CambiumCore

/// The names of a store's objects and locks.
///
/// Blocks and records of the space have the store's number in their names, so that an operation that comes
/// late does not meet those of a store that was made in the place of a deleted one.
struct ObjectNames: Sendable {
  /// What the store is, its newest version, and the commits before it: see ``RootHeader``.
  static let root = "root"
  /// The lock of the machine that writes.
  static let writer = "writer"
  /// The lock that those share who wait for the writer lock.
  static let waiting = "waiting"
  /// The lock that all who read share: each of its holders says which version it needs.
  static let pins = "pins"

  private let blockPrefix: String
  private let spacePrefix: String

  /// The names in the store of that identity.
  init(_ identity: RootIdentity) {
    let number = String(identity.uuidLow, radix: 16)
    blockPrefix = "b.\(number)."
    spacePrefix = "s.\(number)."
  }

  /// The block of that number.
  func block(_ number: UInt64) -> String { blockPrefix + String(number, radix: 16) }

  /// The number of the block of that name; nil for other objects.
  func blockNumber(_ name: String) -> UInt64? {
    guard name.hasPrefix(blockPrefix) else { return nil }
    return UInt64(name.dropFirst(blockPrefix.count), radix: 16)
  }

  /// A record of the space.
  func space(_ record: SpaceRecordID) -> String {
    spacePrefix + String(record.epoch, radix: 16) + "." + String(record.number, radix: 16)
  }

  /// The record of the space of that name; nil for other objects.
  func spaceRecord(_ name: String) -> SpaceRecordID? {
    guard name.hasPrefix(spacePrefix) else { return nil }
    let parts = name.dropFirst(spacePrefix.count).split(separator: ".")
    guard parts.count == 2, let epoch = UInt64(parts[0], radix: 16),
      let number = UInt64(parts[1], radix: 16)
    else { return nil }
    return SpaceRecordID(epoch: epoch, number: number)
  }
}

/// Names a record of the space: no two attempts to write one have the same name.
struct SpaceRecordID: Hashable, Sendable {
  /// The epoch of who wrote it.
  var epoch: UInt64
  /// Which of its records it is.
  var number: UInt64
}
