import ArgumentParser
import CambiumCore
import CambiumFile
import CambiumRocksDB
import CambiumToolKit
import Foundation

/// `cambium compact PATH`: rewrites a store as small as it can be.
///
/// Pointers: a path is lent to the system for one call.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Rewrites a store as small as it can be and replaces it in one rename.",
    discussion: """
      A store that is in use is refused. With --output the original stays as it is. A RocksDB store is \
      compacted where it lies; use 'cambium copy' to change its codec.

      With --codec, --train-dictionary or --new-key-file the pages go through another chain of codecs \
      afterwards: 'zstd' or 'zstd:LEVEL', 'aes-256-gcm', both joined by '+', or 'none', which alone takes encryption away. Keys are read \
      from files of 64 bytes, or of 128 hexadecimal digits.
      """)

  @OptionGroup var options: CommonOptions

  @Option(help: "Write the compacted store here and leave the original alone.")
  var output: String?

  @Option(help: "What pages go through afterwards, such as 'zstd:9' or 'none'.")
  var codec: String?

  @Flag(help: "Train a dictionary for zstd on the store's own pages.")
  var trainDictionary = false

  @Option(help: "The file with the key that encrypts the store afterwards.", completion: .file())
  var newKeyFile: String?

  func run() throws {
    try options.reportingErrors {
      let location = try options.location()
      let result = try rocksDB(location) ?? file(try Stores.file(location))
      if options.json {
        try Output.json(result)
      } else {
        result.printForPeople()
      }
    }
  }

  private func file(_ path: String) throws -> Compaction {
    let progress = options.progress
    var recoding: ((Database) throws(StoreError) -> (any PageCodec)?)?
    if let change = try self.recoding(path) { recoding = change.codec(for:) }
    defer { progress.finish() }
    // From now on the draft is this command's: nobody else compacts the file.
    var cleanup: Cleanup?
    defer { cleanup?.forget() }
    let report = try FileStore.compact(
      path: path, output: output, codec: try options.codec(),
      makingDraft: { make throws(StoreError) in
        cleanup = try Self.cleanup(of: path, output, making: make)
      },
      progressOfAll: { progress.show("compacting", $0, of: $1, "rows") }, recoding: recoding)
    return Compaction(
      path: output ?? path, bytesBefore: report.byteCountBefore, bytesAfter: report.byteCountAfter,
      inPlace: report.wasInPlace)
  }
}

extension CompactCommand {
  /// Takes the draft of a compaction along: a file beside the store, or beside the output, with its lock.
  private static func cleanup(
    of path: String, _ output: String?, making make: () throws(StoreError) -> Void
  ) throws(StoreError) -> Cleanup {
    let target = URL(fileURLWithPath: output ?? path)
    let draft =
      output == nil
      ? target.resolvingSymlinksInPath().path + ".compacting"
      : target.path + ".compacting-\(getpid())-"
    return try Cleanup(making: make) {
      let folder = (draft as NSString).deletingLastPathComponent
      let name = (draft as NSString).lastPathComponent
      for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      where file.hasPrefix(name) {
        unsafe unlink(folder + "/" + file)
      }
    }
  }

  /// What pages shall go through, unless it stays the same.
  private func recoding(_ path: String) throws -> Recoding? {
    guard codec != nil || trainDictionary || newKeyFile != nil else { return nil }
    var chain = try Codecs.chain(
      codec, insteadOf: FileStore.inspect(path: path).identity.codec, hasNewKey: newKeyFile != nil,
      path: path)
    if trainDictionary { chain = Codecs.compressed(chain) }
    let key: CodecKey?
    if let newKeyFile {
      key = try KeyFile.read(newKeyFile)
    } else {
      key = try options.key()
    }
    return Recoding(chain: chain, key: key, trainsDictionary: trainDictionary)
  }
}

extension CompactCommand {
  /// Compacts a RocksDB store where it lies; nil when `location` is none.
  private func rocksDB(_ location: StoreLocation) throws(StoreError) -> Compaction? {
    #if RocksDB
      guard location.choice.kind == RocksDBStore.kind else { return nil }
      if output != nil || codec != nil || trainDictionary || newKeyFile != nil {
        throw .wrongStoreKind(path: location.path, found: RocksDBStore.kind, expected: "file")
      }
      guard FileManager.default.fileExists(atPath: location.path) else {
        throw .notFound(path: location.path)
      }
      let opened = try location.openExisting(isReadOnly: false, key: try options.key())
      guard let store = opened as? RocksDBStore else { return nil }
      let before = try store.statistics().totalByteCount
      try store.compact()
      let after = try store.statistics().totalByteCount
      try store.close()
      return Compaction(path: location.path, bytesBefore: before, bytesAfter: after)
    #else
      return nil
    #endif
  }
}

/// What a compaction did.
struct Compaction: Encodable {
  var path: String
  var bytesBefore: Int
  var bytesAfter: Int
  var inPlace = false

  func printForPeople() {
    Output.line("\(path): \(Output.bytes(bytesBefore)) before, \(Output.bytes(bytesAfter)) after")
    if inPlace {
      Output.line(
        "The disk has no room for a copy, so pages were moved within the file. A copy is smaller.")
    }
  }
}
