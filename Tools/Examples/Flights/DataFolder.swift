import Foundation

#if Zstd
  import CZstd
#endif

/// The files that the example imports, compressed or not.
///
/// Pointers: zstd reads the frame and writes an array of the length that the frame says, no more,
/// within the call.
struct DataFolder {
  let url: URL

  /// A problem with one of the files.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The folder beside this source file, or the one given.
  init(path: String?) {
    url =
      path.map { URL(fileURLWithPath: $0) }
      ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Data")
  }

  /// The rows of `name`.csv, or of `name`.csv.zst.
  func table(_ name: String) throws -> CSVReader {
    let plain = url.appendingPathComponent("\(name).csv")
    if let data = try? Data(contentsOf: plain) { return CSVReader(Array(data)) }
    let compressed = url.appendingPathComponent("\(name).csv.zst")
    guard let data = try? Data(contentsOf: compressed) else {
      throw Failure(
        description: "Neither \(plain.path) nor \(compressed.path) can be read; "
          + "name the folder of the data with --data.")
    }
    return CSVReader(try decompress(Array(data), compressed.path))
  }

  #if Zstd
    private func decompress(_ source: [UInt8], _ path: String) throws -> [UInt8] {
      let size = unsafe ZSTD_getFrameContentSize(source, source.count)
      // Sizes near the top of the range are zstd's codes for “unknown” and “not a frame”.
      guard size < UInt64(1) << 40 else {
        throw Failure(description: "\(path) is not a zstd file with a known size.")
      }
      var failure: String?
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
        let result = unsafe ZSTD_decompress(buffer.baseAddress, buffer.count, source, source.count)
        if ZSTD_isError(result) != 0 {
          failure = unsafe String(cString: ZSTD_getErrorName(result))
          count = 0
        } else {
          count = result
        }
      }
      if let failure { throw Failure(description: "\(path) is damaged: \(failure).") }
      return bytes
    }
  #else
    private func decompress(_ source: [UInt8], _ path: String) throws -> [UInt8] {
      throw Failure(
        description: "\(path) is compressed: build with '--traits Zstd', as 'make demo' does.")
    }
  #endif
}
