import Foundation
import Testing

/// Replays the fuzzer's corpus, in which every input that ever stopped a target stays; one target at a
/// time, as the fuzzer does.
@Suite(.serialized) struct CorpusTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Corpus")

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
