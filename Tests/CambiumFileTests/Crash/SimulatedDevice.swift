import CambiumFile
import Synchronization
import TestSupport

/// A disk in memory that remembers what a crash could leave of it, and fails on demand.
///
/// Between two syncs a real disk may have stored any subset of the sectors written, in any order;
/// ``CrashStates`` makes such states for any point of the past. A sync that says it has stored what
/// it has not is not simulated: no order of writes is safe on such a disk.
final class SimulatedDevice: Device {
  /// What was done, in order.
  enum Operation {
    case write([UInt8], at: Int)
    case truncate(Int)
    /// A sync of the operations before the one of this number; those since came while it was under
    /// way.
    case sync(before: Int)
    /// A sync that failed: any of the writes that it was about may be lost for good, whatever later
    /// syncs say.
    case failedSync(before: Int)
  }

  /// What the next operation of a number does instead of working.
  ///
  /// What a program does about short and interrupted writes is the business of the device on top of
  /// the system, ``CambiumFile``'s own; a store only sees what comes of them.
  enum Fault: CaseIterable {
    /// Nothing is written, or the sync fails.
    case refused
    /// A part is written before the error; a sync fails after all.
    case partial
    /// Everything is written, and the error comes all the same; a sync fails after all.
    case whole
    /// The disk is full.
    case full
  }

  private static let ioError: Int32 = 5
  private static let noSpace: Int32 = 28

  private struct State {
    var bytes: [UInt8]
    var operations: [Operation] = []
    var fault: (index: Int, fault: Fault)?
    var isFull = false
    var readCount = 0
    var failingRead: (index: Int, code: Int32)?
    var badBytes: Range<Int>?
  }

  private let state: Mutex<State>
  /// What was safely stored at the beginning.
  let initial: [UInt8]
  /// What is stored whole or not at all.
  let sectorByteCount: Int
  /// Called before each operation; set before the device is used.
  private let watcher = Mutex<(@Sendable () -> Void)?>(nil)
  /// Called once, while a sync is under way.
  private let interlude = Mutex<(@Sendable () -> Void)?>(nil)

  /// A device that begins with these bytes, safely stored.
  init(_ bytes: [UInt8] = [], sectorByteCount: Int = 512) {
    self.sectorByteCount = sectorByteCount
    initial = bytes
    state = Mutex(State(bytes: bytes))
  }

  /// The device that a process finds whose predecessor was killed after `count` operations of
  /// `device`: the system still knows all that was written, the medium only what was synced.
  init(_ device: SimulatedDevice, killedAfter count: Int) {
    sectorByteCount = device.sectorByteCount
    initial = device.initial
    state = Mutex(State(bytes: device.initial))
    for operation in device.operations.prefix(count) {
      state.withLock { state in
        switch operation {
        case .write(let bytes, let offset): Self.apply(bytes, offset, &state)
        case .truncate(let byteCount):
          state.bytes.removeLast(state.bytes.count - byteCount)
          state.operations.append(operation)
        case .sync, .failedSync: state.operations.append(operation)
        }
      }
    }
  }

  /// Everything that was done.
  var operations: [Operation] { state.withLock { $0.operations } }

  /// Calls `body` before each operation from now on.
  func watch(_ body: @escaping @Sendable () -> Void) { watcher.withLock { $0 = body } }

  /// Calls `body` while the next sync is under way; nil for nothing.
  func duringNextSync(_ body: (@Sendable () -> Void)?) { interlude.withLock { $0 = body } }

  private func announce() { watcher.withLock { $0 }?() }

  /// Its bytes as programs see them.
  var bytes: [UInt8] { state.withLock { $0.bytes } }

  /// How many writes, syncs and cuts have been done.
  var operationCount: Int { state.withLock { $0.operations.count } }

  /// Fails operation number `index`, once.
  func fail(_ index: Int, _ fault: Fault) { state.withLock { $0.fault = (index, fault) } }

  /// Whether the fault has happened; it will not any more.
  func endFault() -> Bool {
    state.withLock { state in
      defer { state.fault = nil }
      return state.fault == nil
    }
  }

  /// Fails read number `index`, counted from the device's beginning, with the system's error `code`.
  func failRead(_ index: Int, code: Int32 = 5) {
    state.withLock { $0.failingRead = (index, code) }
  }

  /// Fails every read of any of these bytes from now on, as a medium does that has lost them.
  func lose(_ bytes: Range<Int>) { state.withLock { $0.badBytes = bytes } }

  /// How many reads were tried.
  var readCount: Int { state.withLock { $0.readCount } }

  /// Refuses all growth while set.
  func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

  // MARK: Device

  func byteCount() throws(DeviceError) -> Int { bytes.count }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
    try state.withLock { state throws(DeviceError) in
      state.readCount += 1
      if let (index, code) = state.failingRead, index == state.readCount - 1 {
        throw DeviceError(operation: "read", code: code)
      }
      if state.badBytes?.overlaps(offset..<offset + buffer.count) ?? false {
        throw DeviceError(operation: "read", code: Self.ioError)
      }
      let end = min(state.bytes.count, offset + buffer.count)
      guard offset < end else { return 0 }
      state.bytes.withUnsafeBytes { bytes in
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<end]))
      }
      return end - offset
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    let bytes = Array(bytes)
    announce()
    try state.withLock { state throws(DeviceError) in
      if state.isFull, offset + bytes.count > state.bytes.count {
        throw DeviceError(operation: "write", code: Self.noSpace)
      }
      guard let fault = Self.takeFault(&state) else { return Self.apply(bytes, offset, &state) }
      if fault == .whole { Self.apply(bytes, offset, &state) }
      if fault == .partial { Self.apply(Array(bytes[..<(bytes.count / 2)]), offset, &state) }
      throw DeviceError(operation: "write", code: fault == .full ? Self.noSpace : Self.ioError)
    }
  }

  private static func takeFault(_ state: inout State) -> Fault? {
    guard let (index, fault) = state.fault, index <= state.operations.count else { return nil }
    state.fault = nil
    return fault
  }

  private static func apply(_ bytes: [UInt8], _ offset: Int, _ state: inout State) {
    place(bytes[...], offset, &state.bytes)
    state.operations.append(.write(bytes, at: offset))
  }

  static func place(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ image: inout [UInt8]) {
    let missing = offset + bytes.count - image.count
    if missing > 0 { image += [UInt8](repeating: 0, count: missing) }
    image.withUnsafeMutableBytes { image in
      bytes.withUnsafeBytes { bytes in
        UnsafeMutableRawBufferPointer(rebasing: image[offset..<(offset + bytes.count)])
          .copyMemory(from: bytes)
      }
    }
  }

  func sync() throws(DeviceError) {
    announce()
    let begun = operationCount
    let body = interlude.withLock { interlude in
      defer { interlude = nil }
      return interlude
    }
    if let body {
      body()
      announce()
    }
    try state.withLock { state throws(DeviceError) in
      if Self.takeFault(&state) != nil {
        state.operations.append(.failedSync(before: begun))
        throw DeviceError(operation: "sync", code: Self.ioError)
      }
      state.operations.append(.sync(before: begun))
    }
  }

  func truncate(to byteCount: Int) throws(DeviceError) {
    announce()
    try state.withLock { state throws(DeviceError) in
      if Self.takeFault(&state) != nil {
        throw DeviceError(operation: "truncate", code: Self.ioError)
      }
      state.bytes.removeLast(state.bytes.count - byteCount)
      state.operations.append(.truncate(byteCount))
    }
  }

  func map(byteCount: Int) throws(DeviceError) -> Mapping? { nil }

  // MARK: Crashes

  /// What the disk may hold when power is cut after `count` operations; see ``CrashStates``.
  func crashImage(
    afterOperations count: Int, mood: Double, generator: inout SeededGenerator
  ) -> [UInt8] {
    var states = CrashStates(self)
    states.advance(to: count, generator: &generator)
    return states.image(mood: mood, generator: &generator)
  }
}
