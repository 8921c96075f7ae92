import CambiumCore
import Foundation

/// Where a store is made that is to be there whole or not at all.
enum NewPlace {
  /// On this machine: beside its destination until it is whole.
  case beside(CopyPlace)
  /// On other machines: where it belongs, and deleted after an error.
  case remote(StoreLocation)

  /// A place for a store that goes to `location`, where nothing is; throws when something is there.
  init(for location: StoreLocation) throws(StoreError) {
    guard location.choice.isRemote else {
      self = .beside(try CopyPlace(for: location.path))
      return
    }
    if try location.isThere() {
      throw .system(operation: "create", path: location.path, code: EEXIST)
    }
    self = .remote(location)
  }

  /// Where the store is to be made.
  var path: String {
    switch self {
    case .beside(let place): place.path
    case .remote(let location): location.path
    }
  }

  /// The store, which is closed, is whole.
  func finish() throws(StoreError) {
    if case .beside(let place) = self { try place.finish() }
  }

  /// Leaves nothing of it.
  func clear() {
    switch self {
    case .beside(let place): place.clear()
    case .remote(let location): _ = try? location.choice.delete?(location.path)
    }
  }
}

extension StoreLocation {
  /// Whether there is a store, or anything else in its place.
  func isThere() throws(StoreError) -> Bool {
    guard choice.isRemote else { return FileManager.default.fileExists(atPath: path) }
    do throws(StoreError) {
      try choice.open(StoreRequest(path: path, isReadOnly: true)).close()
    } catch {
      switch error {
      case .notFound: return false
      case .codecMismatch: return true
      default: throw error
      }
    }
    return true
  }
}
