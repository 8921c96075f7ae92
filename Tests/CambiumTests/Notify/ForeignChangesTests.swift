import Cambium
import CambiumStoreContract
import Dispatch
import Foundation
import TestSupport
import Testing

/// What another process touches is told as if it had been touched here.
@Suite struct ForeignChangesTests {
  init() { TemporaryFolder.prepareForChildren() }

  private static func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(filePath: path), objectTypes: [FollowedPage.self, FollowedVisit.self])
  }

  /// Observes pages and the links of the first one, and lets another process write.
  private func observing(
    faults: StoreFaults? = nil, _ change: @escaping @Sendable (Desk) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    var configuration = Self.configuration(folder.file("far.realm"))
    if let faults { configuration.store = Realm.Store.file.failing(by: faults) }
    let desk = try Desk(configuration)
    try desk.run { realm in
      try realm.write {
        for index in 0..<10 {
          realm.create(FollowedPage.self, value: ["address": "\(index)", "text": "old"])
        }
        let first = realm.object(ofType: FollowedPage.self, forPrimaryKey: "0")
        first?.links.append(objectsIn: realm.objects(FollowedPage.self))
      }
    }
    try await change(desk)
  }

  private static func write(
    _ path: String, _ body: @Sendable (Realm) throws -> Void
  ) throws {
    let realm = try Realm(configuration: configuration(path), queue: nil)
    try realm.write { try body(realm) }
  }

  @Test func `an equal assignment elsewhere is a modification`() async throws {
    try await observing { desk in
      desk.run { realm in
        desk.tokens = [
          realm.objects(FollowedPage.self).sorted(byKeyPath: "address")
            .observe { [unowned desk] in desk.note($0) }
        ]
      }
      #expect(await desk.next() == "initial 10")
      let path = desk.configuration.fileURL!.path
      await #expect(processExitsWith: .success) { [path = path as String] in
        try ForeignChangesTests.write(path) { realm in
          realm.object(ofType: FollowedPage.self, forPrimaryKey: "3")?.text = "old"
        }
      }
      let told = await desk.next()
      // The first one links to it.
      #expect(told == "-[] +[] ~[0, 3]")
    }
  }

  @Test func `who has failed to commit is told what another process makes of the same version`()
    async throws
  {
    let faults = StoreFaults()
    try await observing(faults: faults) { desk in
      desk.run { realm in
        desk.tokens = [
          realm.objects(FollowedPage.self).where { $0.text == "new" }
            .observe { [unowned desk] in desk.note($0) }
        ]
      }
      #expect(await desk.next() == "initial 0")
      faults.fail(.publishing, .mediumFull, times: 1)
      desk.run { realm in
        _ = #expect(throws: Realm.Error.self) {
          try realm.write { realm.objects(FollowedPage.self).first?.text = "lost" }
        }
      }
      let path = desk.configuration.fileURL!.path
      await #expect(processExitsWith: .success) { [path = path as String] in
        try ForeignChangesTests.write(path) { realm in
          realm.object(ofType: FollowedPage.self, forPrimaryKey: "3")?.text = "new"
        }
      }
      #expect(await desk.next() == "-[] +[0] ~[]")
    }
  }

  @Test func `edits of a list elsewhere are told by their positions`() async throws {
    try await observing { desk in
      desk.run { realm in
        let first = realm.object(ofType: FollowedPage.self, forPrimaryKey: "0")!
        desk.tokens = [first.links.observe { [unowned desk] in desk.note($0) }]
      }
      #expect(await desk.next() == "initial 10")
      let path = desk.configuration.fileURL!.path
      await #expect(processExitsWith: .success) { [path = path as String] in
        try ForeignChangesTests.write(path) { realm in
          let links = realm.object(ofType: FollowedPage.self, forPrimaryKey: "0")!.links
          // The elements before and after are the same objects.
          let last = links[9]
          links.remove(at: 9)
          links.append(last)
          links[2] = links[2]
          links.insert(links[5], at: 0)
        }
      }
      let told = await desk.next()
      // The first element is the list's owner.
      #expect(told == "-[9] +[0, 10] ~[0, 2]")
    }
  }

  @Test func `more than a commit keeps is found by comparing`() async throws {
    try await observing { desk in
      desk.run { realm in
        desk.tokens = [
          realm.objects(FollowedPage.self).where { $0.text == "new" }
            .observe { [unowned desk] change in
              guard case .update(let pages, _, let insertions, _) = change else {
                return desk.note("initial")
              }
              desk.note("\(pages.count) \(insertions.count)")
            }
        ]
      }
      #expect(await desk.next() == "initial")
      let path = desk.configuration.fileURL!.path
      await #expect(processExitsWith: .success) { [path = path as String] in
        try ForeignChangesTests.write(path) { realm in
          for index in 0..<5_000 {
            realm.create(
              FollowedPage.self, value: ["address": "\(index)", "text": "new"], update: .modified)
          }
        }
      }
      #expect(await desk.next() == "5000 5000")
    }
  }
}
