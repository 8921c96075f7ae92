import CambiumCore
import Foundation

extension Realm.Configuration {
  /// A configuration for a store that is named by text, as configuration files do it:
  /// `file:/data/people`, `memory:scratch`, `rocksdb:/data/people`, or a path alone; and for codecs by
  /// their names, such as `zstd:3`.
  ///
  /// A path alone is a store of the kind that is there, or else a file. Kinds and codecs of plug-ins
  /// must have joined before, by their `register()`. Throws when the kind has not; opening throws when
  /// a codec has not.
  public init(location: String, codec: String = "none") throws {
    StoreRegistry.registerBundledKinds()
    let place: StoreLocation
    do throws(StoreError) {
      place = try StoreRegistry.location(location)
    } catch {
      throw RLMError(error, path: location)
    }
    if place.choice.isVolatile {
      self.init(inMemoryIdentifier: place.path)
    } else {
      self.init(fileURL: URL(fileURLWithPath: place.path))
    }
    store = place.choice
    if codec != "none" { self.codec = .named(codec) }
  }
}

extension StoreRegistry {
  /// Lets the kinds join that need no plug-in, files and memory; `Realm.Configuration(location:)` does
  /// it by itself.
  package static func registerBundledKinds() {
    register(.memory)
    register(.file) { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }
}
