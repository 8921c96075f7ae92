import CambiumWeb
import ServiceLifecycle

/// Closes the store when the server has ended.
struct WebLifetime: Service {
  let service: WebService

  func run() async throws {
    try? await gracefulShutdown()
    await service.close()
  }
}
