import CambiumWeb
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Serves the page of one store on the loopback address: the second half of `cambium serve`, which hands its
/// settings on.
@main
enum Serve {
  static func main() async {
    guard CommandLine.arguments.count == 2,
      let settings = try? WebSettings(argument: CommandLine.arguments[1])
    else { end("This is a part of the command-line tool: run 'cambium serve PATH'.", status: 64) }
    WebService.endOnFailure(say)
    do {
      let service = try await WebService(settings, warn: say)
      try await application(service, port: settings.port).runService()
    } catch let error as IOError {
      end("Cannot listen on port \(settings.port): \(error).", status: 1)
    } catch {
      end(WebService.text(of: error), status: 1)
    }
  }

  private static func application(
    _ service: WebService, port: Int
  ) -> some ApplicationProtocol {
    var logger = Logger(label: "cambium-serve")
    logger.logLevel = .error
    return Application(
      responder: WebResponder(service: service),
      server: .http1(configuration: ServerLimits.channel),
      configuration: ApplicationConfiguration(
        address: .hostname("127.0.0.1", port: port),
        availableConnectionsDelegate: MaximumAvailableConnections(
          ServerLimits.connectionCount, logger: logger)),
      services: [WebLifetime(service: service)],
      onServerRunning: { channel in
        let line = service.start(port: channel.localAddress?.port ?? port)
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
      },
      logger: logger)
  }

  @Sendable private static func say(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }

  private static func end(_ text: String, status: Int32) -> Never {
    say("error: \(text)")
    exit(status)
  }
}
