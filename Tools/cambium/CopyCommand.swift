import ArgumentParser
import CambiumCore
import CambiumToolKit
import Foundation

/// `cambium copy SOURCE DESTINATION`: the same content in another kind of store, or through another
/// codec.
struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copies a store into a new one of any kind, through any codec, and compares both.",
    discussion: """
      The destination must not exist: 'file:PATH' or a path alone, or 'rocksdb:PATH'. Its pages go \
      through the codecs of the source unless --codec names others: 'zstd' or 'zstd:LEVEL', \
      'aes-256-gcm', both joined by '+', or 'none', which alone takes encryption away. Keys are read \
      from files of 64 bytes, or of 128 hexadecimal digits.

      The source may be in use, a RocksDB store only by others that read; the copy holds one version of \
      it. It is made in the folder 'DESTINATION.copying' and moved when the digests of both are the \
      same. When anything fails, nothing is left; a copy that was killed leaves that folder, which the \
      next one clears. In a cluster it is made where it belongs, and deleted when anything fails; one \
      that a signal ended stays there.
      """)

  @OptionGroup var options: CommonOptions

  @Argument(help: "Where the copy goes.", completion: .file())
  var destination: String

  @Option(help: "What the copy's pages go through, such as 'zstd:9' or 'none'.")
  var codec: String?

  @Option(
    help: "The file with the key that encrypts the copy; otherwise it has that of the source.",
    completion: .file())
  var newKeyFile: String?

  func run() throws {
    try options.reportingErrors {
      try Copying.run(
        options, options.location(), to: destination, chain: codec, newKeyFile: newKeyFile)
    }
  }
}

/// What a copy made.
struct Copying: Encodable {
  var source, destination, store, codec, digest: String
  var bytesBefore, bytesAfter: Int

  /// Copies what is at `source` and shows what was made; see the commands' options.
  static func run(
    _ options: CommonOptions, _ source: StoreLocation, to destination: String, chain: String?,
    newKeyFile: String?
  ) throws {
    let copying = try Copying(
      from: source, key: options.key(), to: StoreRegistry.location(destination), chain: chain,
      newKey: newKeyFile.map { path throws(StoreError) in try KeyFile.read(path) },
      progress: options.progress)
    if options.json {
      try Output.json(copying)
    } else {
      copying.printForPeople()
    }
  }

  init(
    from source: StoreLocation, key: CodecKey?, to destination: StoreLocation, chain: String?,
    newKey: CodecKey?, progress: ProgressLine
  ) throws {
    guard !destination.choice.isVolatile else {
      throw StoreError.storeUnavailable(
        kind: destination.choice.kind, advice: "A copy there would end with this command")
    }
    self = try OfflineStore.withDatabase(source, key: key) { database in
      let place = try NewPlace(for: destination)
      do {
        let chain = try Codecs.chain(
          chain, insteadOf: database.identity.codec, hasNewKey: newKey != nil, path: source.path)
        var copying = try Self.copy(
          database, to: place.location, chain: chain, key: newKey ?? key, progress: progress)
        try place.finish(as: source.path)
        copying.destination = destination.path
        return copying
      } catch {
        progress.finish()
        place.clear()
        throw error
      }
    }
  }

  private static func copy(
    _ source: Database, to destination: StoreLocation, chain: String, key: CodecKey?,
    progress: ProgressLine
  ) throws -> Copying {
    let recoding = Recoding(chain: chain, key: key, trainsDictionary: false)
    let view = try source.snapshot()
    let request = StoreRequest(path: destination.path, codec: try recoding.codec(for: source))
    let copy = try Database(store: try destination.choice.open(request))
    do {
      let all = try view.rowCount()
      try copy.fill(with: view) { progress.show("copying", $0, of: all, "rows") }
      try copy.close()
    } catch {
      try? copy.close()
      throw error
    }
    // Rows within rows are compared, too; how many there are is known when they were read once.
    var all = 0
    let expected = try view.contentDigest {
      all = $0
      progress.show("reading", $0, of: nil, "rows")
    }
    return try OfflineStore.withDatabase(destination, key: key) { copy in
      let digest = try copy.snapshot().contentDigest {
        progress.show("comparing", $0, of: all, "rows")
      }
      progress.finish()
      guard digest == expected else {
        throw StoreError.damaged(
          Damage(.checksum, "the copy at '\(destination.path)' does not hold what the source holds")
        )
      }
      let codec = copy.identity.codec
      return Copying(
        source: source.identity.path, destination: destination.path, store: copy.identity.kind,
        codec: codec.isEmpty ? "none" : codec, digest: "\(digest)",
        bytesBefore: try source.statistics().totalByteCount,
        bytesAfter: try copy.statistics().totalByteCount)
    }
  }

  private init(
    source: String, destination: String, store: String, codec: String, digest: String,
    bytesBefore: Int, bytesAfter: Int
  ) {
    (self.source, self.destination, self.store) = (source, destination, store)
    (self.codec, self.digest) = (codec, digest)
    (self.bytesBefore, self.bytesAfter) = (bytesBefore, bytesAfter)
  }

  func printForPeople() {
    Output.line("\(source) was copied to \(destination) (\(store), codec \(codec))")
    Output.line("  \(Output.bytes(bytesBefore)) before, \(Output.bytes(bytesAfter)) after")
    Output.line("  digest \(digest) of both")
  }
}
