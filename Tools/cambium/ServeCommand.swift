import ArgumentParser
import CambiumToolKit
import CambiumWeb
import Foundation

/// `cambium serve PATH`: a page that shows a store while it is used.
///
/// Pointers: arguments are copies that are never freed, with a nil behind them: either the process becomes the
/// server, or it ends with an error.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Shows a store on a page in the browser, live; edits it with --write.",
    discussion: """
      Prints an address on this machine's loopback, with a token without which nothing is answered:

        cambium serve people.realm
        cambium serve people.realm --write --port 8080
        cambium serve people.realm --time-limit 30

      Classes are shown as tables that are sorted, filtered in the query language and follow what other \
      processes commit; objects with all their links; the schema as a diagram; the file as a map. With --write \
      edits are collected on the page and saved together. Ctrl-C ends it.

      The server is a program of its own, 'cambium-serve', which 'make serve' builds and puts beside this one.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Let the page save edits.") var write = false

  @Option(help: "The port; a free one without it.") var port = 0

  @Option(help: "How long a request may read, in seconds.") var timeLimit = 5.0

  @Option(help: "How many rows a request may have.") var rowLimit = 500

  func validate() throws {
    guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
    guard timeLimit >= 0.001, timeLimit <= 3600 else {
      throw ValidationError("--time-limit takes 0.001 to 3600 seconds.")
    }
    guard (1...10_000).contains(rowLimit) else {
      throw ValidationError("--row-limit takes 1 to 10000.")
    }
  }

  func run() throws {
    try options.reportingErrors {
      // Said here, where all commands say it.
      _ = try options.location()
      guard let server = Self.server else {
        throw TransferError(
          "The server 'cambium-serve' is not there: 'make serve' in the project's folder builds it. It is "
            + "looked for beside this program and in PATH.")
      }
      let settings = WebSettings(
        store: options.store, keyFile: options.keyFile, isWritable: write, port: port,
        timeLimit: timeLimit, rowLimit: rowLimit, printsJSON: options.json)
      let arguments = [server, try settings.argument]
      var pointers: [UnsafeMutablePointer<CChar>?] =
        unsafe arguments.map { unsafe strdup($0) } + [nil]
      unsafe execv(server, &pointers)
      throw TransferError(unsafe "Cannot start '\(server)': \(String(cString: strerror(errno))).")
    }
  }

  /// The path of the server.
  private static var server: String? {
    var folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map(String.init)
    if let own = Bundle.main.executableURL?.resolvingSymlinksInPath() {
      folders.insert(own.deletingLastPathComponent().path, at: 0)
    }
    return folders.map { "\($0)/cambium-serve" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
