import CambiumCore

/// The names of a store's objects and locks.
enum ObjectName {
  /// What the store is, its newest version, and the commits before it: see ``RootHeader``.
  static let root = "root"
  /// The lock of the machine that writes.
  static let writer = "writer"
  /// The lock that all who read share: each of its holders says which version it needs.
  static let pins = "pins"

  private static let blockPrefix = "b."
  private static let spacePrefix = "s."

  /// The block of that number.
  static func block(_ number: UInt64) -> String { blockPrefix + String(number, radix: 16) }

  /// The number of the block of that name; nil for other objects.
  static func blockNumber(_ name: String) -> UInt64? {
    guard name.hasPrefix(blockPrefix) else { return nil }
    return UInt64(name.dropFirst(blockPrefix.count), radix: 16)
  }

  /// A record of the space.
  static func space(_ record: SpaceRecordID) -> String {
    spacePrefix + String(record.epoch, radix: 16) + "." + String(record.number, radix: 16)
  }

  /// The record of the space of that name; nil for other objects.
  static func spaceRecord(_ name: String) -> SpaceRecordID? {
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

/// Names one state of the root: no two have the same token.
struct RootToken: Hashable, Sendable {
  /// Each owner of the writer lock has an epoch of its own, above those before it.
  var epoch: UInt64
  /// How often the root was swapped.
  var generation: UInt64
  /// A random number of the store that made this state: two that want the same epoch differ in it.
  var owner: UInt64

  /// As it is stored, 24 bytes: what a swap compares.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.put(epoch)
    writer.put(generation)
    writer.put(owner)
    return writer.bytes
  }
}
