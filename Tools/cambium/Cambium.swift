import ArgumentParser
import Cambium
import Foundation

/// The command line: looks into stores, proves and shrinks them, offline.
@main
struct CambiumTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cambium",
    abstract: "Looks into Cambium stores, and moves what they hold.",
    discussion: """
      Every command takes the path of a store, or its kind and path ('file:PATH', 'rocksdb:PATH'), \
      prints for people by default and JSON with --json, and exits with a status other than 0 and one \
      clear line when something is wrong.
      """,
    subcommands: [
      InspectCommand.self, SchemaCommand.self, QueryCommand.self, DiffCommand.self,
      WatchCommand.self, ServeCommand.self, ExportCommand.self, ImportCommand.self,
      VerifyCommand.self, CompactCommand.self, CopyCommand.self,
      BackupCommand.self, RestoreCommand.self, DigestCommand.self, BenchCommand.self,
    ])

  static func main() {
    BundledPlugIns.register()
    Terminal.makeRoomForHelp()
    UnthrownFailure.handler.withLock { handler in
      handler = { message in
        Output.error(message)
        Cleanup.runAll()
        Output.end(EXIT_FAILURE)
      }
    }
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      end(error)
    }
    Output.end(EXIT_SUCCESS)
  }

  /// Says what `error` means, on standard output when it is what was asked for, such as help.
  private static func end(_ error: any Error) -> Never {
    let (status, text) = (exitCode(for: error), fullMessage(for: error))
    if !text.isEmpty {
      if status.isSuccess { Output.line(text) } else { Output.write(text + "\n") }
    }
    Output.end(status.rawValue)
  }
}
