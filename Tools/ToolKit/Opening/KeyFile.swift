import CPlatform
import CambiumCore
import Foundation

/// Reads keys from files, so that none is ever an argument.
///
/// Pointers: arrays are lent to the C library for one call, with their lengths, and the key copies its bytes. The
/// stream is closed before its content is looked at.
package enum KeyFile {
  /// The key in the file at `path`: 64 bytes as they are, or 128 hexadecimal digits with white space
  /// around them.
  ///
  /// What is read on the way is wiped. A file that others than its owner may read is used all the
  /// same, and `warn` is told.
  package static func read(
    _ path: String, warn: (String) -> Void
  ) throws(StoreError) -> CodecKey {
    var bytes = [UInt8](repeating: 0, count: 256)
    defer { wipe(&bytes) }
    guard let file = unsafe fopen(path, "rb") else {
      throw .system(operation: "read the key file", path: path, code: errno)
    }
    // Without a buffer of its own, which nobody would wipe.
    unsafe setvbuf(file, nil, _IONBF, 0)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    var status = stat()
    if unsafe fstat(fileno(file), &status) == 0, status.st_mode & 0o077 != 0 {
      warn("warning: others may read the key in '\(path)'; see 'chmod 600'.")
    }
    unsafe fclose(file)
    if count == 64 { return key(bytes[..<64]) }
    var digits = bytes[..<count].filter { ![9, 10, 13, 32].contains($0) }
    defer { wipe(&digits) }
    guard digits.count == 128, digits.allSatisfy({ value($0) != nil }) else {
      throw .codecFailure(
        codec: "aes-256-gcm",
        reason: "'\(path)' holds no key: that is 64 bytes, or 128 hexadecimal digits")
    }
    var decoded = (0..<64).map { index in
      (value(digits[2 * index]) ?? 0) << 4 | (value(digits[2 * index + 1]) ?? 0)
    }
    defer { wipe(&decoded) }
    return key(decoded[...])
  }

  /// What to say when a store needs a key that was not given.
  package static func missing(_ codec: String, _ path: String) -> StoreError {
    .codecFailure(
      codec: codec, reason: "'\(path)' is encrypted; name the file with its key (--key-file)")
  }

  private static func key(_ bytes: ArraySlice<UInt8>) -> CodecKey {
    CodecKey(copying: bytes.span)
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { buffer in
      if let base = buffer.baseAddress { unsafe cambium_wipe(base, buffer.count) }
    }
  }
}
