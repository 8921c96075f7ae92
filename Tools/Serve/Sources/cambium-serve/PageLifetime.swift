import CambiumPage
import ServiceLifecycle

/// Closes the store when the server has ended.
struct PageLifetime: Service {
  let service: PageService

  func run() async throws {
    try? await gracefulShutdown()
    await service.close()
  }
}
