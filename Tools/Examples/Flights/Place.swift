import Cambium
import Foundation

/// Where the example keeps its store.
struct Place {
  let configuration: Realm.Configuration
  /// The file's path; nil for a store in memory.
  let path: String?
  private let temporaryFolder: URL?

  init(store: String, path: String?) throws {
    if store == "memory" {
      configuration = Realm.Configuration(inMemoryIdentifier: "flights")
      self.path = nil
      temporaryFolder = nil
      return
    }
    let url: URL
    if let path {
      url = URL(fileURLWithPath: path)
      temporaryFolder = nil
    } else {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("flights-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = folder.appendingPathComponent("flights.cambium")
      temporaryFolder = folder
    }
    configuration = Realm.Configuration(fileURL: url)
    self.path = url.path
  }

  /// Removes what nobody asked to keep.
  func remove() {
    if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
  }
}
