import ArgumentParser
import CambiumCore
import CambiumFile

/// `cambium compact PATH`: rewrites a store as small as it can be.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Rewrites a store as small as it can be and replaces it in one rename.",
    discussion: "A store that is in use is refused. With --output the original stays as it is.")

  @OptionGroup var options: CommonOptions

  @Option(help: "Write the compacted store here and leave the original alone.")
  var output: String?

  func run() throws {
    try options.reportingErrors {
      let progress = options.progress
      let report = try FileStore.compact(path: options.path, output: output) { rows in
        progress.show("compacting", "\(rows) rows")
      }
      progress.finish()
      let result = Compaction(
        path: output ?? options.path, bytesBefore: report.byteCountBefore,
        bytesAfter: report.byteCountAfter)
      if options.json {
        try Output.json(result)
      } else {
        result.printForPeople()
      }
    }
  }
}

/// What a compaction did.
struct Compaction: Encodable {
  var path: String
  var bytesBefore: Int
  var bytesAfter: Int

  func printForPeople() {
    print("\(path): \(Output.bytes(bytesBefore)) before, \(Output.bytes(bytesAfter)) after")
  }
}
