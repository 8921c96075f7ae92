import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// How many stores have one file open, and what opening takes of the process.
struct UserLimitTests {
  init() { TemporaryFolder.prepareForChildren() }

  @Test func `64 stores have a file open, and the next one is told so`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.cambium")
    var stores = try (0..<64).map { _ in try FileStore(path: path) }
    let error = StoreError.inUse(
      path: path, holder: "64 others, which is as many as there can be")
    #expect(throws: error) { try FileStore(path: path) }
    try stores.removeLast().close()
    let another = try FileStore(path: path)
    #expect(try another.newestHead().version == 0)
    for store in stores + [another] { try store.close() }
  }

  @Test func `a file that cannot be mapped is opened by reading`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.file("a.cambium")
      // A file of 256 MiB, of which most is a hole.
      let maker = try FileStore(path: path)
      _ = try maker.commitChanges(4, seed: 1, .full)
      try maker.close()
      #expect(truncate(path, 256 << 20) == 0)
      let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
      let pageCount = try #require(text.split(separator: " ").first.flatMap { Int($0) })
      // Room for threads that the system may begin meanwhile, and none for the file.
      let byteCount = rlim_t(pageCount * sysconf(Int32(_SC_PAGESIZE)) + 200 << 20)
      var limit = rlimit(rlim_cur: byteCount, rlim_max: byteCount)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
      let error = #expect(throws: StoreError.self) { try FileStore(path: path).pin() }
      #expect(error.map { if case .addressSpaceExhausted = $0 { true } else { false } } == true)
      let store = try FileStore(path: path, options: FileStoreOptions(access: .buffered))
      #expect(try store.pin().head.version == 1)
      try store.close()
    }
  }
}
