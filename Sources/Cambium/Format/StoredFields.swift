import CambiumCore

/// The fields that may follow in the attributes of a class or a property: room for what later versions
/// have to say.
///
///      0      1            2
///     | tag  | byte count | content …
///
/// Who does not know a tag skips it. What must not be skipped raises a bit of ``StoredFeatures``, too.
enum StoredFields {
  /// Whether the bytes are fields to the end.
  static func areSound(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      guard rest.count >= 2 else { return false }
      let count = 2 + Int(rest[rest.startIndex + 1])
      guard count <= rest.count else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}

/// What a reader of a database's objects must know, besides the format of the store.
///
/// Kept under ``StoredName/features``, 8 bytes, little-endian; a database without it has none. Whoever
/// writes something that others would misread raises its bit, and bits stay raised.
package struct StoredFeatures: OptionSet, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Classes whose objects live inside of others.
  package static let embeddedObjects = StoredFeatures(rawValue: 1)
  /// Properties that are maps.
  package static let maps = StoredFeatures(rawValue: 2)
  /// Properties and elements of any type.
  package static let anyValues = StoredFeatures(rawValue: 4)
  /// Links that are told from their targets in groups, see ``BacklinkGroup``.
  package static let groupedBacklinks = StoredFeatures(rawValue: 8)
  /// Columns of 128-bit values whose words are packed.
  package static let packedWords = StoredFeatures(rawValue: 16)
  /// What every database has that this library writes to.
  package static let current: StoredFeatures = [.groupedBacklinks, .packedWords]
  /// Everything that this library knows.
  package static let known: StoredFeatures = [
    .embeddedObjects, .maps, .anyValues, .groupedBacklinks, .packedWords,
  ]

  /// What `classes` need.
  init(_ classes: ClassSet) {
    self = []
    for description in classes.descriptions {
      if description.objectSchema.isEmbedded { insert(.embeddedObjects) }
      for property in description.objectSchema.allProperties {
        if property.isMap { insert(.maps) }
        if property.type == .any { insert(.anyValues) }
      }
    }
  }

  /// The bits of a database.
  ///
  /// Throws `.unsupportedFeature` when it has some that this library does not know.
  package init(of view: some ReadTransaction, path: String) throws(StoreError) {
    guard let bytes = try view.value(StoredName.features) else {
      self = []
      return
    }
    guard bytes.count == 8 else {
      throw .damaged(Damage(.catalog, "the features have \(bytes.count) bytes"))
    }
    self.init(
      rawValue: bytes.enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64($1.offset * 8) })
    let unknown = subtracting(.known)
    guard unknown.isEmpty else {
      throw .unsupportedFeature(path: path, bits: unknown.rawValue)
    }
  }

  /// The stored form.
  package var bytes: [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: rawValue >> UInt64($0 * 8)) }
  }
}
