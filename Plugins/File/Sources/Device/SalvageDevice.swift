import CambiumCore
import Synchronization

/// A file some of whose blocks the medium does not give back any more, seen as if they were zeros.
///
/// A read that the medium refuses is tried again block by block, so that one bad block does not take
/// its neighbours along. No page, head or record is all zeros, so that whoever reads takes what was in
/// a bad block for damaged. All other errors are the caller's.
///
/// Pointers: the buffer is the caller's for the time of the call; a piece of it ends where the block, the buffer
/// or the file does, whichever is first.
final class SalvageDevice: Device {
  private let device: any Device
  private struct State {
    /// The numbers of bad blocks.
    var badBlocks: Set<Int> = []
    /// Why one of them could not be read.
    var error: DeviceError?
  }

  private let state = Mutex(State())
  private static let blockByteCount = FileLayout.blockByteCount

  init(_ device: any Device) { self.device = device }

  /// Which bytes of the file could not be read, ascending.
  var unreadable: [Range<Int>] {
    let blocks = state.withLock { $0.badBlocks.sorted() }
    var ranges: [Range<Int>] = []
    for block in blocks {
      let range = block * Self.blockByteCount..<(block + 1) * Self.blockByteCount
      if let last = ranges.last, last.upperBound == range.lowerBound {
        ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }

  /// Why some of them could not be read.
  var error: DeviceError? { state.withLock { $0.error } }

  func byteCount() throws(DeviceError) -> Int { try device.byteCount() }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
    do throws(DeviceError) {
      return try unsafe device.read(buffer, at: offset)
    } catch {
      guard Self.isOfTheMedium(error) else { throw error }
    }
    let end = min(offset + buffer.count, try device.byteCount())
    var position = offset
    while position < end {
      let block = position / Self.blockByteCount
      let next = min(end, (block + 1) * Self.blockByteCount)
      let piece = unsafe UnsafeMutableRawBufferPointer(
        rebasing: buffer[position - offset..<next - offset])
      do throws(DeviceError) {
        let count = try unsafe device.read(piece, at: position)
        // The file has become shorter.
        if count < piece.count { return position - offset + count }
      } catch {
        guard Self.isOfTheMedium(error) else { throw error }
        unsafe piece.initializeMemory(as: UInt8.self, repeating: 0)
        state.withLock { state in
          state.badBlocks.insert(block)
          state.error = error
        }
      }
      position = next
    }
    return max(0, end - offset)
  }

  /// Whether the medium refuses a place, and not the system the whole file.
  private static func isOfTheMedium(_ error: DeviceError) -> Bool {
    PosixFiles.lost.contains(error.code)
  }

  // MARK: Never called

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    throw DeviceError(operation: "write", code: PosixFiles.readOnly)
  }
  func sync() throws(DeviceError) {}
  func truncate(to byteCount: Int) throws(DeviceError) {
    throw DeviceError(operation: "truncate", code: PosixFiles.readOnly)
  }
  func map(byteCount: Int) throws(DeviceError) -> Mapping? { nil }
}
