import CambiumRealmFile
import Foundation

/// Files of Realm: bytes as they are, or a sample some of whose bytes are others.
///
/// The first byte of an input says which: 0 for bytes of its own, the number of a sample otherwise. Everything
/// is read, and each object is looked for by its key.
enum RealmFiles {
  private static let samples: [[UInt8]] = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Tests/CambiumRealmFileTests/Samples")
    return ["tiny", "tombstones", "schema-changes", "scalars", "copy", "compacted"].compactMap {
      (try? Data(contentsOf: folder.appendingPathComponent("\($0).realm"))).map { [UInt8]($0) }
    }
  }()

  /// The reader opens files, so one is written anew for each input.
  private static let path: String = {
    let memory = "/dev/shm"
    let folder =
      FileManager.default.fileExists(atPath: memory) ? memory : NSTemporaryDirectory()
    let path = "\(folder)/cambium-fuzz-\(getpid()).realm"
    atexit { unlink(RealmFiles.path) }
    return path
  }()

  static func run(_ bytes: UnsafeRawBufferPointer) {
    guard FileManager.default.createFile(atPath: path, contents: Data(image(bytes))) else { return }
    do throws(RealmFileError) {
      try read(RealmFile(path: path))
    } catch {
      precondition(!error.description.isEmpty, "an error says nothing")
    }
  }

  private static func image(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var supply = ByteSupply(bytes)
    let choice = Int(supply.byte())
    guard choice > 0, !samples.isEmpty else { return [UInt8](bytes.dropFirst()) }
    var image = samples[(choice - 1) % samples.count]
    while !supply.isEmpty {
      let place = supply.number(below: image.count)
      image[place] = supply.byte()
    }
    return image
  }

  private static func read(_ file: RealmFile) throws(RealmFileError) {
    for (index, type) in file.classes.enumerated() {
      let result = Result {
        try file.forEachLeaf(of: index) { leaf in
          for property in type.properties.indices {
            let values = try leaf.values(of: property)
            precondition(values.count == leaf.keys.count, "a column has a value for each object")
          }
          for key in leaf.keys {
            let isFound = try file.contains(key, in: index)
            precondition(isFound, "an object that was met is found")
            if !type.properties.isEmpty { _ = try file.value(of: 0, of: key, in: index) }
          }
        }
      }
      do {
        try result.get()
      } catch let error as RealmFileError {
        throw error
      } catch {
        preconditionFailure("\(error)")
      }
    }
  }
}
