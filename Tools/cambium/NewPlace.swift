import CambiumCore
import Foundation
import Synchronization

/// Where a store is made that is to be there whole or not at all.
enum NewPlace {
  /// On this machine: beside its destination until it is whole.
  case beside(CopyPlace, StoreChoice)
  /// On other machines: where it belongs, and deleted after an error.
  case remote(RemotePlace)

  /// A place for a store that goes to `location`, where nothing is; throws when something is there.
  init(for location: StoreLocation) throws(StoreError) {
    self =
      location.choice.isRemote
      ? .remote(try RemotePlace(for: location))
      : .beside(try CopyPlace(for: location.path), location.choice)
  }

  /// Where the store is to be made, and what makes it.
  var location: StoreLocation {
    switch self {
    case .beside(let place, let choice): StoreLocation(choice: choice, path: place.path)
    case .remote(let place): place.location
    }
  }

  /// The store, which is closed, is whole; a file gets the rights of the one at `source`, if that is one.
  func finish(as source: String? = nil) throws(StoreError) {
    if case .beside(let place, _) = self { try place.finish(as: source) }
  }

  /// Leaves nothing of it.
  func clear() {
    switch self {
    case .beside(let place, _): place.clear()
    case .remote(let place): place.clear()
    }
  }
}

/// Where a store on other machines is made.
final class RemotePlace: Sendable {
  private let destination: StoreLocation
  /// Whether the store that is there was made by this command.
  private let isMade = Atomic(false)

  /// A place for a store that goes to `destination`; throws when one is there.
  init(for destination: StoreLocation) throws(StoreError) {
    if try destination.isThere() {
      throw .system(operation: "create", path: destination.path, code: EEXIST)
    }
    self.destination = destination
  }

  /// The destination: who opens it for writing first makes the store, and is refused when somebody else has made
  /// one meanwhile.
  var location: StoreLocation {
    let choice = destination.choice
    return StoreLocation(
      choice: StoreChoice(kind: choice.kind, isRemote: true) { request throws(StoreError) in
        var request = request
        request.mustBeNew = !request.isReadOnly && !self.isMade.load(ordering: .acquiring)
        let store = try choice.open(request)
        if request.mustBeNew { self.isMade.store(true, ordering: .releasing) }
        return store
      }, path: destination.path)
  }

  /// Deletes the store, which is closed, unless it is somebody else's.
  func clear() {
    guard isMade.load(ordering: .acquiring) else { return }
    _ = try? destination.choice.delete?(destination.path)
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
