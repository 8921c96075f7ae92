import ArgumentParser
import Cambium
import CambiumCore
import CambiumToolKit
import Foundation

/// What every command takes.
struct CommonOptions: ParsableArguments {
  @Argument(help: "The path of the store.", completion: .file())
  var store: String

  @Option(help: "The file with the key of an encrypted store.", completion: .file())
  var keyFile: String?

  @Flag(help: "Print JSON instead of text.")
  var json = false

  /// Where the store is, and of what kind.
  func location() throws(StoreError) -> StoreLocation { try StoreRegistry.location(store) }

  /// The path of a store that must be a file.
  func filePath() throws(StoreError) -> String { try Stores.file(try location()) }

  /// The codec that the file names, with the key of `--key-file`; nil when it names none.
  func codec() throws(StoreError) -> (any PageCodec)? {
    try Codecs.codec(ofStoreAt: try filePath(), key: try key())
  }

  /// The same for a store so damaged that it may not name its codec any more: nil then.
  func codecIfKnown() throws(StoreError) -> (any PageCodec)? {
    do throws(StoreError) {
      return try codec()
    } catch .damaged, .truncated, .notAStore, .unsupportedFormat {
      return nil
    }
  }

  /// The key of `--key-file`.
  func key() throws(StoreError) -> CodecKey? {
    guard let keyFile else { return nil }
    return try KeyFile.read(keyFile)
  }

  /// Shows how far a command is, on a terminal only.
  var progress: ProgressLine { ProgressLine() }

  /// Runs `body`; turns its error into one line on standard error and exit status 1.
  func reportingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    try Self.reportingErrors(body)
  }

  /// The same for commands without these options.
  static func reportingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      guard let line = ErrorText.line(error) else { throw error }
      Output.error(line)
    }
    throw ExitCode(1)
  }
}

extension KeyFile {
  /// The key in the file at `path`; warnings go to standard error.
  static func read(_ path: String) throws(StoreError) -> CodecKey {
    try read(path, warn: Output.error)
  }
}
