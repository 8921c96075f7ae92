import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

@testable import CambiumTool

/// Stores that a command makes on other machines, for which a file stands here.
@Suite struct NewPlaceWhiteBoxTests {
  private let folder: TemporaryFolder
  private let location: StoreLocation

  init() throws {
    folder = try TemporaryFolder()
    let choice = StoreChoice(
      kind: "elsewhere", isRemote: true,
      delete: { path throws(StoreError) in try FileStore.delete(path: path) }
    ) { request throws(StoreError) in
      if request.mustBeNew, FileManager.default.fileExists(atPath: request.path) {
        throw .system(operation: "create", path: request.path, code: EEXIST)
      }
      var options = FileStoreOptions()
      options.isReadOnly = request.isReadOnly
      return try FileStore(path: request.path, options: options)
    }
    location = StoreLocation(choice: choice, path: folder.file("store"))
  }

  private var isThere: Bool { FileManager.default.fileExists(atPath: location.path) }

  private func open(_ location: StoreLocation) throws {
    try location.choice.open(StoreRequest(path: location.path)).close()
  }

  @Test func `what a command has made is deleted after an error, however often it was opened`()
    throws
  {
    let place = try NewPlace(for: location)
    try open(place.location)
    try open(place.location)
    #expect(isThere)
    place.clear()
    #expect(!isThere)
    // Before anything was made there is nothing to delete.
    try NewPlace(for: location).clear()
  }

  @Test func `what somebody else has made meanwhile is refused, and stays`() throws {
    let place = try NewPlace(for: location)
    try open(location)
    let taken = StoreError.system(operation: "create", path: location.path, code: EEXIST)
    #expect(throws: taken) { try open(place.location) }
    place.clear()
    #expect(isThere)
    #expect(throws: taken) { try NewPlace(for: location) }
  }

  @Test func `what is whole stays`() throws {
    let place = try NewPlace(for: location)
    try open(place.location)
    try place.finish()
    #expect(isThere)
  }
}
