import CambiumCore
import CambiumMemory
import TestSupport
import Testing

@testable import Cambium

/// What a backup has of a version, page by page.
struct BackupWhiteBoxTests {
  @Test func `a backup is sound that is made while dropped trees wait to be freed`() throws {
    var options = DatabaseOptions()
    options.deadPagesPerCommit = 1
    let database = try Database(store: MemoryStore(), options: options)
    let filling = try database.beginWrite()
    for name in ["kept", "dropped"] {
      let tree = try filling.editKeyTree(name)
      for number in 0..<5_000 { _ = try tree.set(Array("\(number)".utf8), Array(name.utf8)) }
    }
    _ = try filling.commit()
    let dropping = try database.beginWrite()
    try dropping.drop("dropped")
    let snapshot = try dropping.commit()
    #expect(try database.verify().trees.contains { $0.role == .deadRoot })

    let folder = try TemporaryFolder()
    let writer = BackupWriter(
      database, to: folder.file("x.backup"), after: nil, willWrite: { _ in },
      progress: { _, _, _ in })
    _ = try writer.write(snapshot)
    let backup = try Database(store: BackupStore(path: folder.file("x.backup"), codec: nil))
    #expect(try backup.verify().findings == [])
    #expect(try backup.snapshot().keyTree("kept")?.count == 5_000)
  }
}
