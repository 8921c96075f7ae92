import ArgumentParser
import CambiumCore
import Foundation

/// What every command takes.
struct CommonOptions: ParsableArguments {
  @Argument(help: "The path of the store.", completion: .file())
  var path: String

  @Flag(help: "Print JSON instead of text.")
  var json = false

  /// Shows how far a command is, on a terminal only.
  var progress: ProgressLine { ProgressLine() }

  /// Runs `body`; turns its error into one line on standard error and exit status 1.
  func reportingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError {
      Output.error("\(error)")
      throw ExitCode(1)
    }
  }
}
