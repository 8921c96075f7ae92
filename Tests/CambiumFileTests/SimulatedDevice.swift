import CambiumFile
import Synchronization
import TestSupport

/// A disk in memory that remembers what a crash could leave of it, and fails on demand.
///
/// Between two syncs a real disk may have stored any subset of the sectors written, in any order.
/// ``crashImage(afterOperations:generator:)`` makes one such state for any point of the past.
final class SimulatedDevice: Device {
  /// What was done, in order.
  enum Operation {
    case write([UInt8], at: Int)
    case truncate(Int)
    case sync
    /// A sync that failed: any of the writes before it may be lost for good, whatever later syncs
    /// say.
    case failedSync
  }

  /// What the next operation of a number does instead of working.
  enum Fault: CaseIterable {
    /// Nothing is written, or the sync fails.
    case refused
    /// A part is written before the error; a sync fails after all.
    case partial
    /// The disk is full.
    case full
  }

  static let sectorByteCount = 512
  private static let ioError: Int32 = 5
  private static let noSpace: Int32 = 28

  private struct State {
    var bytes: [UInt8]
    var operations: [Operation] = []
    var fault: (index: Int, fault: Fault)?
    var isFull = false
  }

  private let state: Mutex<State>
  private let initial: [UInt8]

  /// A device that begins with these bytes, safely stored.
  init(_ bytes: [UInt8] = []) {
    initial = bytes
    state = Mutex(State(bytes: bytes))
  }

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

  /// Refuses all growth while set.
  func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

  // MARK: Device

  func byteCount() throws(DeviceError) -> Int { bytes.count }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
    state.withLock { state in
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
    try state.withLock { state throws(DeviceError) in
      if state.isFull, offset + bytes.count > state.bytes.count {
        throw DeviceError(operation: "write", code: Self.noSpace)
      }
      guard let fault = Self.takeFault(&state) else { return Self.apply(bytes, offset, &state) }
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

  private static func place(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ image: inout [UInt8]) {
    let missing = offset + bytes.count - image.count
    if missing > 0 { image.append(contentsOf: repeatElement(0, count: missing)) }
    image.withUnsafeMutableBytes { image in
      bytes.withUnsafeBytes { bytes in
        UnsafeMutableRawBufferPointer(rebasing: image[offset..<(offset + bytes.count)])
          .copyMemory(from: bytes)
      }
    }
  }

  func sync() throws(DeviceError) {
    try state.withLock { state throws(DeviceError) in
      if Self.takeFault(&state) != nil {
        state.operations.append(.failedSync)
        throw DeviceError(operation: "sync", code: Self.ioError)
      }
      state.operations.append(.sync)
    }
  }

  func truncate(to byteCount: Int) throws(DeviceError) {
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

  /// What the disk may hold when power is cut after `count` operations: everything up to the last
  /// sync, and of what came later any sectors at all.
  ///
  /// `mood` 0 keeps nothing of it, 1 everything.
  func crashImage(
    afterOperations count: Int, mood: Double, generator: inout SeededGenerator
  ) -> [UInt8] {
    let operations = state.withLock { Array($0.operations.prefix(count)) }
    var image = initial
    var unsynced: [Operation] = []
    for operation in operations {
      switch operation {
      case .sync:
        for pending in unsynced { Self.keep(pending, 1, &image, &generator) }
        unsynced = []
      case .failedSync:
        for pending in unsynced { Self.keep(pending, 0.5, &image, &generator) }
        unsynced = []
      case .write, .truncate: unsynced.append(operation)
      }
    }
    for pending in unsynced { Self.keep(pending, mood, &image, &generator) }
    return image
  }

  private static func keep(
    _ operation: Operation, _ share: Double, _ image: inout [UInt8],
    _ generator: inout SeededGenerator
  ) {
    func isKept() -> Bool { share == 1 || Double.random(in: 0..<1, using: &generator) < share }
    switch operation {
    case .write(let bytes, let offset):
      // Some writes survive whole, others sector by sector.
      let isWhole = isKept() && Bool.random(using: &generator)
      var position = 0
      while position < bytes.count {
        let sectorEnd = ((offset + position) / sectorByteCount + 1) * sectorByteCount - offset
        let end = min(bytes.count, sectorEnd)
        if isWhole || isKept() { place(bytes[position..<end], offset + position, &image) }
        position = end
      }
    case .truncate(let byteCount):
      if isKept(), byteCount < image.count { image.removeLast(image.count - byteCount) }
    case .sync, .failedSync: break
    }
  }
}
