import Cambium
import CambiumCore
import Foundation

/// A store opened as a Realm with the classes that it describes itself.
package enum OpenedRealm {
  /// The Realm at a place, whatever its kind and codec; only read unless it shall be written.
  package static func open(
    _ location: StoreLocation, key: CodecKey?, isReadOnly: Bool = true
  ) throws -> Realm {
    try Realm(configuration: configuration(location, key: key, isReadOnly: isReadOnly))
  }

  /// How ``open(_:key:isReadOnly:)`` opens it.
  package static func configuration(
    _ location: StoreLocation, key: CodecKey?, isReadOnly: Bool
  ) -> Realm.Configuration {
    let isRemote = location.choice.isRemote
    var configuration = Realm.Configuration(
      fileURL: isRemote ? nil : URL(fileURLWithPath: location.path), readOnly: isReadOnly)
    if isRemote { configuration.remotePath = location.path }
    configuration.usesStoredClasses = true
    configuration.disableFormatUpgrade = true
    // The store names its codec itself.
    configuration.store = StoreChoice(kind: location.choice.kind, isRemote: isRemote) {
      request throws(StoreError) in
      do throws(StoreError) {
        return try location.openExisting(
          isReadOnly: request.isReadOnly, key: key, upgradesFormat: request.upgradesFormat)
      } catch .codecFailure(let codec, _) where key == nil {
        throw KeyFile.missing(codec, location.path)
      }
    }
    return configuration
  }
}
