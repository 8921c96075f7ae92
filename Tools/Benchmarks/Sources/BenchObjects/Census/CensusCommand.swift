import ArgumentParser
import BenchPicture
import Foundation

/// Does what programs do with a million people, through a Realm and through GRDB.
struct CensusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "census",
    abstract: "Does what programs do with a million people, through a Realm and through GRDB.",
    discussion: """
      Both keep the people in a file, and sync every commit. Rounds alternate who begins; medians are shown. \
      The columns "realm" and "engine" were measured elsewhere: the first on another machine, the second by \
      'make bench'. The column "wanted" is for a million people.
      """)

  @Option(help: "How many people there are.")
  var objects = 1_000_000

  @Option(help: "How many rounds to run.")
  var rounds = 3

  @Option(help: "Where the databases lie while they are measured.")
  var directory = "/var/tmp"

  @Option(help: "Where 'make bench' left its latest.json, and where figures are kept.")
  var results = "Tools/Benchmarks/results"

  @Flag(help: "Keep the figures among the results, as objects.json and as pictures.")
  var keep = false

  @Flag(help: "Print the table in Markdown.")
  var markdown = false

  @Flag(help: "Print an array of all figures and nothing else.")
  var json = false

  func validate() throws {
    guard objects >= 1000, rounds > 0 else {
      throw ValidationError("--objects must be at least 1000, --rounds at least 1")
    }
  }

  func run() throws {
    let folder = URL(filePath: directory).appending(path: "cambium-census-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let run = CensusRun(
      population: Population(count: objects), rounds: rounds, folder: folder)
    let lines = try run.lines { line in
      guard isatty(STDERR_FILENO) == 1 else { return }
      FileHandle.standardError.write(Data("\r\u{1B}[K\(line)".utf8))
    }
    if isatty(STDERR_FILENO) == 1 { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    let place = URL(filePath: results)
    let table = CensusTable(
      lines: lines, engine: EngineFigures(at: place.appending(path: "latest.json"), rows: objects),
      people: objects)
    if keep {
      try table.json().write(
        to: place.appending(path: "objects.json"), atomically: true, encoding: .utf8)
      try Pictures(of: place).draw()
    }
    print(json ? try table.json() : markdown ? table.markdown : table.text)
  }
}
