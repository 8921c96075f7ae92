import CambiumCore
import Foundation
import Testing

@testable import CambiumFile

/// Replays the fuzzer's corpus, in which every input that ever stopped a target stays; one target at a
/// time, as the fuzzer does.
@Suite(.serialized) struct CorpusTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Corpus")

  @Test func `records of a log that are put together again open at their version`() throws {
    let original = try #require(LoggedFile.original)
    var contents = original.contents
    #expect(contents.count >= 5)
    func version(_ contents: [[UInt8]]) throws(StoreError) -> Version {
      try DamagedFile.open(MemoryDevice(original.bytes(with: contents))).snapshot().version
    }
    #expect(try version(contents) == original.start.version + Version(contents.count))
    // What is wrong in one of them is found in the record itself.
    contents[1].removeLast(contents[1].count / 2)
    let damaged = contents
    let error = #expect(throws: StoreError.self) { try version(damaged) }
    #expect("\(String(describing: error))".contains("the record of a small commit"))
  }

  @Test(arguments: FuzzTarget.allCases)
  func `no input of the corpus stops its target`(target: FuzzTarget) throws {
    let inputs = try FileManager.default.contentsOfDirectory(
      at: Self.folder.appendingPathComponent(target.rawValue), includingPropertiesForKeys: nil)
    #expect(!inputs.isEmpty)
    for input in inputs.sorted(by: { $0.path < $1.path }) {
      let bytes = try Data(contentsOf: input)
      bytes.withUnsafeBytes { target.run($0) }
    }
  }
}
