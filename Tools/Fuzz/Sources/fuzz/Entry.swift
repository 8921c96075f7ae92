import FuzzTargets

/// What the fuzzer's main calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Selection.target.run(UnsafeRawBufferPointer(start: bytes, count: count))
  return 0
}
