import CambiumCore
import Foundation

extension Realm.Configuration {
  /// A configuration for a store that is named by text, as configuration files do it:
  /// `file:/data/people`, `memory:scratch`, `rocksdb:/data/people`, `rados:POOL/NAME`, or a path
  /// alone; and for codecs by
  /// their names, such as `zstd:3`.
  ///
  /// A path alone is a store of the kind that is there, or else a file. Kinds and codecs of this package
  /// are there when their traits are on; those of others must have joined before, by their `register()`.
  /// Throws for another kind; opening throws for another codec.
  public init(location: String, codec: String = "none") throws {
    BundledPlugIns.register()
    let place: StoreLocation
    do throws(StoreError) {
      place = try StoreRegistry.location(location)
    } catch {
      throw RLMError(error, path: location)
    }
    if place.choice.isVolatile {
      self.init(inMemoryIdentifier: place.path)
    } else if place.choice.isRemote {
      self.init(fileURL: nil)
      remotePath = place.path
    } else {
      self.init(fileURL: URL(fileURLWithPath: place.path))
    }
    store = place.choice
    if codec != "none" { self.codec = .named(codec) }
  }
}
