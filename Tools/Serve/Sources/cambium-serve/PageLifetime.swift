import CambiumPage
import ServiceLifecycle

/// Closes the store when the server is told to end: streams end first, so that their connections do.
struct PageLifetime: Service {
  let service: PageService

  func run() async throws {
    try? await gracefulShutdown()
    await service.close()
  }
}
