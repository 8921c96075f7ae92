import CambiumCore

extension CrashRun {
  /// All that it did to the device, and what it said of it in the shared memory: the same for the same
  /// seed, on any machine and whatever else runs there.
  var digest: UInt64 {
    var digest: UInt64 = 0
    func note(_ bytes: some Collection<UInt8>) {
      let all = withUnsafeBytes(of: digest) { Array($0) } + bytes
      digest = all.withUnsafeBytes { Checksum.hash($0) }
    }
    func note(_ number: Int) { note(withUnsafeBytes(of: number) { Array($0) }) }
    for operation in device.operations {
      switch operation {
      case .write(let bytes, let offset):
        note(offset)
        note(bytes)
      case .truncate(let byteCount): note(-1 - byteCount)
      case .sync(let end), .failedSync(let end): note(end)
      }
    }
    for memory in trail { note(memory.words + memory.log) }
    return digest
  }
}
