import CambiumCore
import TestSupport

@testable import CambiumFile

extension FileStore {
  /// Commits random changes; the version and what it holds.
  @discardableResult
  func commitChanges(
    _ changeCount: Int, seed: UInt64, _ durability: Durability = .full
  ) throws(StoreError) -> (version: Version, content: FakeTree.Content) {
    var generator = SeededGenerator(seed: seed)
    // One that is released without having ended is aborted.
    let writer = try beginWrite()
    let (root, content) = try FakeTree.change(
      writer, self, changeCount: changeCount, generator: &generator)
    let pin = try writer.publish(root: root, durability: durability, metadata: [])
    return (pin.head.version, content)
  }
}
