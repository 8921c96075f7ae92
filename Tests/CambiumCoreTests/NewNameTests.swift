import CPlatform
import Foundation
import TestSupport
import Testing

/// Files that are named when they are finished, on media of every kind.
@Suite struct NewNameTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// What gives a file a name, where files can have two and where they cannot.
  enum Way: CaseIterable {
    case linking, renaming

    func move(_ path: String, _ name: String) -> Int32 {
      switch self {
      case .linking: cambium_move_to_new_name(path, name)
      case .renaming: cambium_rename_to_new_name(path, name)
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `a finished file gets its name and loses that of its draft`(way: Way) throws {
    let (draft, name) = (folder.file("draft"), folder.file("name"))
    try "new".write(toFile: draft, atomically: false, encoding: .utf8)
    #expect(way.move(draft, name) == 0)
    #expect(try String(contentsOfFile: name, encoding: .utf8) == "new")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["name"])
    #expect(way.move(draft, folder.file("other")) == ENOENT)
    #expect(way.move(name, folder.file("missing/name")) == ENOENT)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["name"])
  }

  @Test(arguments: Way.allCases)
  func `a name that is taken stays another's, and the draft stays`(way: Way) throws {
    let (draft, name) = (folder.file("draft"), folder.file("name"))
    try "new".write(toFile: draft, atomically: false, encoding: .utf8)
    try "old".write(toFile: name, atomically: false, encoding: .utf8)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: folder.file("nowhere"))
    try FileManager.default.createDirectory(
      atPath: folder.file("folder"), withIntermediateDirectories: false)
    for taken in ["name", "link", "folder"] {
      #expect(way.move(draft, folder.file(taken)) == EEXIST)
    }
    #expect(try String(contentsOfFile: name, encoding: .utf8) == "old")
    #expect(try String(contentsOfFile: draft, encoding: .utf8) == "new")
  }
}
