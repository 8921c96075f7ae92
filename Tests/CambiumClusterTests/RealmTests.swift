import Cambium
import CambiumCluster
import CambiumCore
import Foundation
import SimulatedCluster
import Synchronization
import TestSupport
import Testing

final class ClusterNote: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
}

/// Realms on several machines, which are configurations of one process here.
@Suite @MainActor struct ClusterRealmTests {
  private let cluster = SimulatedCluster()

  /// A configuration of a machine; `connection` is told what it is connected by.
  private func configuration(
    _ machine: String, connection: (@Sendable (HeldObjects) -> Void)? = nil
  ) -> Realm.Configuration {
    var configuration = Realm.Configuration(objectTypes: [ClusterNote.self])
    let cluster = cluster
    configuration.store = Realm.Store(kind: "simulated", isRemote: true) {
      request throws(StoreError) in
      var options = ClusterOptions()
      options.isReadOnly = request.isReadOnly
      options.codec = request.codec
      if let seconds = request.readTimeoutSeconds { options.readTimeoutSeconds = seconds }
      let objects = HeldObjects(cluster, path: "simulated:\(request.path)")
      connection?(objects)
      return try ClusterStore(objects, options: options)
    }
    configuration.remotePath = "\(machine)-\(ObjectIdentifier(cluster))"
    return configuration
  }

  private func add(_ ids: Range<Int>, _ configuration: Realm.Configuration) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write {
      for id in ids {
        realm.add(
          ClusterNote(value: [
            "id": id, "text": "note \(id)" + (id >= 100 ? " \(id &* 7919) \(id &* 104_729)" : ""),
          ]))
      }
    }
  }

  @Test func `what one machine writes is there on another one after it was asked for`() async throws
  {
    // No hint says that there is something new.
    let deaf: @Sendable (HeldObjects) -> Void = {
      $0.hold { if case .hint = $0 { true } else { false } }
    }
    let here = try await Realm.open(configuration: configuration("a", connection: deaf))
    #expect(here.objects(ClusterNote.self).count == 0)
    try add(0..<10, configuration("b", connection: deaf))
    await here.asyncRefresh()
    #expect(here.objects(ClusterNote.self).count == 10)
    #expect(here.object(ofType: ClusterNote.self, forPrimaryKey: 7)?.text == "note 7")
  }

  @Test func `observers are told what another machine has changed`() async throws {
    try add(0..<3, configuration("b"))
    let here = try await Realm.open(configuration: configuration("a"))
    let notes = here.objects(ClusterNote.self)
    var told: [([Int], [Int])] = []
    var token: NotificationToken?
    await withCheckedContinuation { continuation in
      var waiting: CheckedContinuation<Void, Never>? = continuation
      token = notes.observe { change in
        if case .update(_, let deletions, let insertions, _) = change {
          told.append((deletions, insertions))
          waiting?.resume()
          waiting = nil
        } else {
          Task { try self.add(3..<5, self.configuration("b")) }
        }
      }
    }
    token?.invalidate()
    #expect(told.map(\.1) == [[3, 4]])
    #expect(notes.count == 5)
  }

  @Test func `what was fetched ahead is read without the network`() async throws {
    try add(0..<20_000, configuration("b"))
    let connections = Connections()
    let here = try await Realm.open(
      configuration: configuration("a") { connections.add($0) })
    let notes = here.objects(ClusterNote.self)
    try await notes.prefetch()
    let before = connections.readCount
    #expect(before > 0)
    #expect(notes.reduce(0) { $0 + $1.text.utf8.count } > 20_000)
    #expect(connections.readCount == before)
  }

  @Test func `opening without an answer throws, and says where`() throws {
    var configuration = configuration("a") { $0.hold { _ in true } }
    configuration.readTimeout = 0.05
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    #expect(error?.code == .fileAccess)
    #expect(error?.localizedDescription.contains("simulated:a") == true)
    #expect(error?.localizedDescription.contains("no answer") == true)
  }

  @Test func `fetching ahead without an answer throws`() async throws {
    try add(0..<20_000, configuration("b"))
    let connections = Connections()
    var configuration = configuration("a") { connections.add($0) }
    configuration.readTimeout = 0.05
    let here = try await Realm.open(configuration: configuration)
    let notes = here.objects(ClusterNote.self)
    #expect(notes.count == 20_000)
    connections.hold()
    await #expect(throws: Realm.Error.self) { try await notes.prefetch() }
    connections.letGo()
    try await notes.prefetch()
    #expect(notes[4999].text.hasPrefix("note 4999 "))
  }

  @Test func `a property without an answer stops the program with a text`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await MainActor.run {
        let tests = ClusterRealmTests()
        try tests.add(0..<20_000, tests.configuration("b"))
        let connections = Connections()
        var configuration = tests.configuration("a") { connections.add($0) }
        configuration.readTimeout = 0.05
        let realm = try Realm(configuration: configuration)
        let notes = realm.objects(ClusterNote.self)
        connections.hold()
        print(notes[12_500].text)
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("simulated:a"))
    #expect(text.contains("no answer"))
  }

  @Test func `a configuration that names a cluster has no file`() throws {
    let configuration = configuration("a")
    #expect(configuration.fileURL == nil)
    #expect(!Realm.fileExists(for: configuration))
    #expect(configuration.description.contains("remotePath"))
    var file = configuration
    file.fileURL = Realm.Configuration().fileURL
    #expect(file.remotePath == nil)
  }

  @Test func `a copy of a Realm in a cluster is a file`() throws {
    try add(0..<100, configuration("b"))
    let realm = try Realm(configuration: configuration("a"))
    let folder = try TemporaryFolder()
    try realm.writeCopy(toFile: folder.url.appendingPathComponent("copy.cambium"))
    var copied = Realm.Configuration(
      fileURL: folder.url.appendingPathComponent("copy.cambium"), objectTypes: [ClusterNote.self])
    copied.readOnly = true
    #expect(try Realm(configuration: copied).objects(ClusterNote.self).count == 100)
  }
}

/// The connections of a configuration.
private final class Connections: Sendable {
  private let list = Mutex<[HeldObjects]>([])

  func add(_ connection: HeldObjects) { list.withLock { $0.append(connection) } }
  var readCount: Int { list.withLock { $0.reduce(0) { $0 + $1.readCount } } }
  func hold() { list.withLock { $0.forEach { $0.hold { _ in true } } } }
  func letGo() { list.withLock { $0.forEach { $0.hold(nil) } } }
}
