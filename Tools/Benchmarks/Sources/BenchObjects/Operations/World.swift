import Cambium
import Foundation

/// A Realm in memory or in a file, empty of people or full of them.
final class World {
  /// Where the objects are kept.
  enum Store: String, CaseIterable { case memory, file }

  let realm: Realm
  let objects: Int
  private let folder: URL?
  /// Where the objects are.
  var store: Store { folder == nil ? .memory : .file }

  init(objects: Int, isFilled: Bool, in store: Store = .memory) throws {
    var configuration = Realm.Configuration()
    switch store {
    case .memory:
      folder = nil
      configuration.inMemoryIdentifier = UUID().uuidString
    case .file:
      let folder = URL.temporaryDirectory.appending(path: "bench-objects-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      self.folder = folder
      configuration.fileURL = folder.appending(path: "people.realm")
    }
    configuration.objectTypes =
      [
        Person.self, City.self, Holder.self, Census.Team.self, Census.Member.self,
      ] + Extra.all
    configuration.maximumNumberOfActiveVersions = nil
    realm = try Realm(configuration: configuration)
    self.objects = objects
    if isFilled { try fill() }
  }

  deinit {
    if let folder { try? FileManager.default.removeItem(at: folder) }
  }

  /// Unmanaged people who live in a hundred cities.
  func people() -> [Person] {
    let cities = (0..<100).map { City(value: ["id": $0, "name": "City \($0)"] as [String: Any]) }
    return (0..<objects).map { Person.make($0, cities) }
  }

  private func fill() throws {
    let people = people()
    try realm.write { realm.add(people) }
  }
}
