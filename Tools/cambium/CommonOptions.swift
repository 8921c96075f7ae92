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
      Output.error(Self.text(of: error))
      throw ExitCode(1)
    }
  }

  // No command creates stores, so that part of the library's advice is left out.
  private static func text(of error: StoreError) -> String {
    guard case .notFound(let path) = error else { return "\(error)" }
    return "No store at '\(path)': No such file or directory. Check the path."
  }
}
