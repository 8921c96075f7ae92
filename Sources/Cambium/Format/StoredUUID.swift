import Foundation

/// The stored form of a `UUID` in a wide column: its 16 bytes as a big-endian number, so that
/// unsigned order is the order of the bytes.
///
/// Pointers: to local values, which have the 16 bytes that are loaded and stored.
package enum StoredUUID {
  package static func wide(_ value: UUID) -> (low: UInt64, high: UInt64) {
    unsafe withUnsafeBytes(of: value.uuid) { bytes in
      unsafe (
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      )
    }
  }

  package static func value(low: UInt64, high: UInt64) -> UUID {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &bytes) { buffer in
      unsafe buffer.storeBytes(of: high.bigEndian, as: UInt64.self)
      unsafe buffer.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return UUID(uuid: bytes)
  }
}
