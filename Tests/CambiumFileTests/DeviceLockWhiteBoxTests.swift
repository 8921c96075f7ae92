import Foundation
import TestSupport
import Testing

@testable import CambiumFile

/// Locks of a file that has been closed.
struct DeviceLockWhiteBoxTests {
  /// A process that is being started has a copy of every descriptor until it runs its program.
  @Test func `a file that was closed is not locked, whoever has its descriptor still`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a")
    let first = Foundation.open(path, O_RDWR | O_CREAT, 0o600)
    let copy = dup(first)
    defer { close(copy) }
    do {
      let device = PosixDevice(descriptor: first)
      #expect(device.lock(byte: 7, .exclusive) == 0)
    }
    let other = PosixDevice(descriptor: Foundation.open(path, O_RDWR))
    #expect(other.lock(byte: 7, .exclusive) == 0)
  }
}
