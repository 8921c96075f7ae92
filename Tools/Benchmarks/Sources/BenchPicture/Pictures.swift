import Foundation

/// The pictures of recorded results, and the table of the page above them: the same results give the same files, byte for byte.
package struct Pictures {
  private let folder: URL

  /// The pictures of the results in `folder`, and the place where they are kept.
  package init(of folder: URL) { self.folder = folder }

  /// Draws every picture for which there are results, and takes away those for which there are none; the names of
  /// the files.
  @discardableResult
  package func draw() throws -> [String] {
    let files = try files()
    for (name, svg) in files {
      try svg.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
    }
    for name in try kept() where files[name] == nil {
      try FileManager.default.removeItem(at: folder.appending(path: name))
    }
    return files.keys.sorted()
  }

  /// The names of files that are not what the results give.
  package func stale() throws -> [String] {
    let files = try files()
    return try Set(files.keys).union(kept()).sorted().filter { name in
      let data = try? Data(contentsOf: folder.appending(path: name))
      return data != files[name].map { Data($0.utf8) }
    }
  }

  private func kept() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".svg") }
  }

  private func files() throws -> [String: String] {
    var files: [String: String] = [:]
    for (name, picture) in try pictures() {
      for scheme in Scheme.allCases { files["\(name)-\(scheme).svg"] = picture.svg(scheme) }
    }
    files[Self.page] = try table()
    return files
  }

  /// The page that has the table.
  private static let page = "../README.md"

  /// The page with the table of these results; nil where there is none.
  private func table() throws -> String? {
    guard let works = try Recorded.elements(Recorded.Work.self, "objects.json", in: folder),
      let figures = try Recorded.elements(Recorded.Figure.self, "latest.json", in: folder),
      let page = try? String(contentsOf: folder.appending(path: Self.page), encoding: .utf8)
    else { return nil }
    return ReadersTable(works, figures).inserted(into: page)
  }

  private func pictures() throws -> [(name: String, picture: Picture)] {
    var pictures: [(name: String, picture: Picture)] = []
    if let works = try Recorded.elements(Recorded.Work.self, "objects.json", in: folder) {
      pictures.append(("objects", ObjectsPicture(works).picture))
    }
    if let figures = try Recorded.elements(Recorded.Figure.self, "latest.json", in: folder) {
      pictures.append(("engine", EnginePicture(figures).picture))
    }
    if let figures = try Recorded.elements(Recorded.Figure.self, "growth.json", in: folder) {
      pictures.append(("growth", GrowthPicture(figures).picture))
    }
    if let sizes = try Recorded.elements(Recorded.Size.self, "sizes.json", in: folder) {
      pictures.append(("sizes", SizesPicture(sizes).picture))
    }
    return pictures
  }
}
