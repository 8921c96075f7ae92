import ArgumentParser
import Foundation

#if RealmFile
  import Cambium
  import RealmFileBuilder
#endif

/// How fast files of Realm are imported, and how much memory that takes.
///
/// Files of many objects are made first: one with six scalar properties, one with a link and a list of three.
/// What is measured is the whole import, with the comparison and the sync at its end.
@main
struct BenchRealmFiles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-realm-files", abstract: "How fast files of Realm are imported.")

  @Option(help: "How many objects each file has.")
  var objects = 1_000_000

  @Option(help: "How often each is imported; the median counts.")
  var rounds = 5

  func run() throws {
    #if RealmFile
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("bench-realm-files-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let files = [("six scalars", "scalars"), ("a link, a list of three", "links")]
      // Made by other processes, so that their memory is not this one's.
      print(
        "| \(objects) objects | time | objects a second | memory of its own | file, old and new |")
      print("| --- | ---: | ---: | ---: | ---: |")
      for (name, kind) in files {
        let old = folder.appendingPathComponent("\(kind).realm")
        let bytes =
          kind == "links" ? WideFile.links(count: objects) : WideFile.scalars(count: objects)
        try Data(bytes).write(to: old)
        try measure(name, old, in: folder)
      }
    #else
      throw ValidationError("This was built without the trait 'RealmFile'.")
    #endif
  }

  #if RealmFile
    private func measure(_ name: String, _ old: URL, in folder: URL) throws {
      var times: [Double] = []
      var memory = 0
      let new = folder.appendingPathComponent("new.cambium")
      for _ in 0..<rounds {
        for file in [new.path, new.path + ".lock"] {
          try? FileManager.default.removeItem(atPath: file)
        }
        let before = Self.anonymousByteCount
        let clock = ContinuousClock()
        let duration = try clock.measure {
          try Realm.importRealmFile(at: old, into: Realm.Configuration(fileURL: new)) { _ in
            memory = max(memory, Self.anonymousByteCount - before)
          }
        }
        times.append(
          Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18)
      }
      let time = times.sorted()[times.count / 2]
      func megabytes(_ count: Int) -> String {
        String(format: "%.0f MiB", Double(count) / 1_048_576)
      }
      func size(_ url: URL) throws -> String {
        megabytes(try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
      }
      print(
        "| \(name) | \(String(format: "%.2f s", time)) | \(Int(Double(objects) / time)) | "
          + "\(megabytes(memory)) | \(try size(old)), \(try size(new)) |")
    }

    /// How many bytes of memory this process has that no file is behind; 0 where that is not told.
    private static var anonymousByteCount: Int {
      guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
        let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
        let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
      else { return 0 }
      return kibibytes << 10
    }
  #endif
}
