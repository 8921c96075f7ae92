import ArgumentParser
import Foundation

#if RealmFile
  import Cambium
  import RealmFileBuilder
#endif

/// How fast files of Realm are imported, and how much memory that takes.
///
/// Files of many objects are made first: one with six scalar properties, one with a link and a list of three.
/// What is measured is the whole import, with the comparison and the sync at its end, by a process of its own
/// for each file: what making it took is not in its memory.
@main
struct BenchRealmFiles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-realm-files", abstract: "How fast files of Realm are imported.",
    subcommands: [Make.self, Measure.self, All.self], defaultSubcommand: All.self)

  /// The files, and what they are called.
  static let kinds = [("scalars", "six scalars"), ("links", "a link, a list of three")]

  /// Makes all files, and measures each.
  struct All: ParsableCommand {
    @Option(help: "How many objects each file has.")
    var objects = 1_000_000

    @Option(help: "How often each is imported; the median counts.")
    var rounds = 5

    func run() throws {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("bench-realm-files-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      print("| \(objects) objects | time | objects a second | peak memory | file, old and new |")
      print("| --- | ---: | ---: | ---: | ---: |")
      // Others write behind it.
      fflush(nil)
      for (kind, name) in BenchRealmFiles.kinds {
        let file = folder.appendingPathComponent("\(kind).realm").path
        try start("make", kind, file, "--objects", "\(objects)")
        try start("measure", name, file, "--objects", "\(objects)", "--rounds", "\(rounds)")
      }
    }

    private func start(_ arguments: String...) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      process.arguments = arguments
      try process.run()
      process.waitUntilExit()
      if process.terminationStatus != 0 { throw ExitCode(process.terminationStatus) }
    }
  }

  /// Makes a file.
  struct Make: ParsableCommand {
    @Argument var kind: String
    @Argument var file: String
    @Option var objects: Int

    func run() throws {
      #if RealmFile
        let bytes =
          kind == "links" ? WideFile.links(count: objects) : WideFile.scalars(count: objects)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
      #else
        throw ValidationError("This was built without the trait 'RealmFile'.")
      #endif
    }
  }

  /// Imports a file, and prints a row.
  struct Measure: ParsableCommand {
    @Argument var name: String
    @Argument var file: String
    @Option var objects: Int
    @Option var rounds: Int

    func run() throws {
      #if RealmFile
        let (old, new) = (URL(fileURLWithPath: file), URL(fileURLWithPath: file + ".cambium"))
        var times: [Double] = []
        var memory = 0
        var calls = 0
        for _ in 0..<rounds {
          for path in [new.path, new.path + ".lock"] {
            try? FileManager.default.removeItem(atPath: path)
          }
          let duration = try ContinuousClock().measure {
            try Realm.importRealmFile(at: old, into: Realm.Configuration(fileURL: new)) { _ in
              calls += 1
              // Asking takes as long as a hundred objects.
              if calls % 64 == 0 { memory = max(memory, Self.anonymousByteCount) }
            }
          }
          let parts = duration.components
          times.append(Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
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
      #endif
    }

    /// How many bytes of memory this process has that no file is behind; 0 where that is not told.
    ///
    /// Mapped pages of the new file are the system's, which takes them back as it needs.
    private static var anonymousByteCount: Int {
      guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
        let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
        let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
          .flatMap({ Int($0) })
      else { return 0 }
      return kibibytes << 10
    }
  }
}
