import ArgumentParser
import BenchPicture
import Foundation

/// Draws the pictures of recorded results.
@main
struct BenchPictures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-pictures",
    abstract: "Draws the pictures of recorded results, for light and dark pages.")

  @Option(help: "The folder with the results, where the pictures are kept, too.")
  var results = "Tools/Benchmarks/results"

  @Flag(help: "Draw nothing; fail unless the pictures that are kept are those of the results.")
  var check = false

  func run() throws {
    let pictures = Pictures(of: URL(filePath: results))
    guard check else {
      for name in try pictures.draw() { print("\(results)/\(name)") }
      return
    }
    let stale = try pictures.stale()
    guard !stale.isEmpty else { return }
    for name in stale {
      FileHandle.standardError.write(
        Data("\(results)/\(name) is not what the results give; 'make pictures' draws it.\n".utf8))
    }
    throw ExitCode.failure
  }
}
