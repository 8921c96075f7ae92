/// What a file store does its input and output with: one file, seen as bytes.
///
/// The store takes locks and names files elsewhere; everything that touches stored bytes passes here,
/// so that a test can record it, cut the power at any point and inject errors. Members may be called
/// from any thread, several at once.
///
/// Pointers: a buffer is the caller's and is used only during the call, within its count. A page is read into a
/// new buffer of its length, which owns the bytes.
public protocol Device: AnyObject, Sendable {
  /// How many bytes the file has.
  func byteCount() throws(DeviceError) -> Int

  /// Fills `buffer` from `offset` on; how many bytes there were, fewer only at the end of the file.
  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int

  /// Writes all of `bytes` at `offset`, growing the file if need be. After an error any part of them
  /// may have been written.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError)

  /// Hints that a range just written should start on its way to the medium, because a sync will
  /// wait for it. May do nothing; errors show at the next sync.
  func startWriting(byteCount: Int, at offset: Int)

  /// Returns when all completed writes survive power loss. After an error nothing is known of any
  /// write since the last success.
  func sync() throws(DeviceError)

  /// Cuts the file to `byteCount` bytes.
  func truncate(to byteCount: Int) throws(DeviceError)

  /// Maps `byteCount` bytes from the start of the file for reading, also behind its end; nil when
  /// this device cannot lend memory.
  func map(byteCount: Int) throws(DeviceError) -> Mapping?
}

extension Device {
  /// Does nothing: it is a hint.
  public func startWriting(byteCount: Int, at offset: Int) {}
}

/// An operation that a device refused.
public struct DeviceError: Error, Hashable, Sendable {
  /// What was tried: `read`, `write`, `sync`, `truncate`, `map`.
  public var operation: String
  /// The system's error number.
  public var code: Int32

  /// Names a failed operation.
  public init(operation: String, code: Int32) {
    self.operation = operation
    self.code = code
  }
}

/// Memory that shows a file's bytes; it is given back with the last reference.
@safe public final class Mapping: Sendable {
  /// The first byte.
  ///
  /// Unchecked: the memory is only read, and outlives this object's users.
  public nonisolated(unsafe) let base: UnsafeRawPointer
  /// How many bytes of addresses belong to it; those behind the file's end must not be read.
  public let byteCount: Int
  private let unmap: @Sendable () -> Void

  /// Takes over mapped memory; `unmap` is called once.
  public init(base: UnsafeRawPointer, byteCount: Int, unmap: @escaping @Sendable () -> Void) {
    unsafe self.base = unsafe base
    self.byteCount = byteCount
    self.unmap = unmap
  }

  deinit { unmap() }
}
