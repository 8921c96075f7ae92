import Cambium
import Foundation
import Logging
import ServiceLifecycle

final class Visit: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var time: Date
}

/// A database as a service: open while the others run, closed after them.
struct DatabaseService: Service {
  let database: RealmDatabase

  func run() async throws {
    try await gracefulShutdown()
    // Takes no new work, and waits for the writes that have begun.
    await database.close()
  }
}

/// Takes visits until it is asked to end, and says of each that it is kept.
struct VisitService: Service {
  let database: RealmDatabase

  func run() async throws {
    try await cancelWhenGracefulShutdown {
      var number = try await database.read { $0.objects(Visit.self).count }
      while !Task.isCancelled {
        let next = number
        try await database.write { realm in
          _ = realm.create(Visit.self, value: ["number": next, "time": Date()])
        }
        FileHandle.standardOutput.write(Data("\(next)\n".utf8))
        number += 1
      }
    }
  }
}

/// `service FILE` takes visits until `SIGTERM`; `service FILE count` tells how many are kept.
@main
struct Program {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.first else {
      print("usage: service FILE [count]")
      exit(2)
    }
    let database = try await RealmDatabase(
      Realm.Configuration(fileURL: URL(filePath: path), objectTypes: [Visit.self]))
    if arguments.dropFirst().first == "count" {
      print(try await database.read { $0.objects(Visit.self).count })
      return await database.close()
    }
    // Services end in the reverse order: whoever uses the database comes behind it.
    let group = ServiceGroup(
      services: [DatabaseService(database: database), VisitService(database: database)],
      gracefulShutdownSignals: [.sigterm], logger: Logging.Logger(label: "service"))
    do { try await group.run() } catch is CancellationError {}
  }
}
