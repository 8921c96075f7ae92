import ArgumentParser
import Cambium
import CambiumCore
import CambiumToolKit
import Foundation

/// `cambium import DOCUMENT STORE`: objects from documents.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Reads objects from JSON, JSON lines, CSV or a Realm file into a store.",
    discussion: """
      What 'cambium export' wrote, or objects of one class from elsewhere:

        cambium import people.json people.realm
        cambium import people.csv people.realm --class Person --primary-key id
        cambium import people.csv people.realm --class Person --dry-run
        cambium import - people.realm --class Person --existing update < people.jsonl
        cambium import old.realm people.cambium

      The form is recognised by the document's content; --from says otherwise. A class that the store does not \
      have is made as the document describes it, or as its values show: numbers, truth values, dates, UUIDs and \
      texts; what is missing somewhere is optional. --dry-run shows these classes, checks every value and opens \
      nothing for writing.

      All is one transaction: when anything is wrong, the line is named, and the store is as before. A new store \
      takes its name when it is whole.

      A '.realm' file that Realm wrote goes into a new store, with all its classes, and is compared with it object \
      by object. --key-file opens an encrypted one and encrypts the new store; where that shall have another key, \
      or none, --source-key-file opens the old one. The old file is not changed, and must not be written meanwhile.
      """)

  @Argument(help: "The document; '-' is standard input.", completion: .file())
  var document: String

  @OptionGroup var options: CommonOptions

  @Option(
    name: .customLong("class"), help: "The class of the objects, where the document does not say.")
  var className: String?

  @Option(help: "json, lines or csv, whatever the document looks like.")
  var from: DocumentFormat?

  @Option(help: "The primary key of a class that is learnt from the document.")
  var primaryKey: String?

  @Option(help: "What separates the fields of a CSV file: a character, or 'tab'.")
  var separator = ","

  @Option(
    help: "What happens to objects whose primary key is there already: error, update or skip.")
  var existing = Import.Policy.error

  @Option(help: "The codec of a new store, such as 'zstd:3'.")
  var codec: String?

  @Option(
    help: "The file with the key of an encrypted Realm file, if the store has another one.",
    completion: .file())
  var sourceKeyFile: String?

  @Flag(help: "Check everything and change nothing.") var dryRun = false

  func validate() throws {
    guard separator == "tab" || separator.utf8.count == 1 else {
      throw ValidationError("--separator takes one character, or 'tab'.")
    }
  }

  func run() throws {
    try options.reportingErrors {
      let location = try options.location()
      let sourceKey = try (sourceKeyFile ?? options.keyFile).map { path throws(StoreError) in
        try KeyFile.read(path)
      }
      if document != "-", from == nil,
        sourceKeyFile != nil || document.hasSuffix(".realm")
          || RealmFileSummary.isRealmFile(document, encryptionKey: sourceKey?.data)
      {
        return try bringRealmFile(sourceKey?.data, location)
      }
      let input = try InputDocument(document)
      var work = try Import(input.source, from)
      work.className = className
      work.primaryKey = primaryKey
      work.separator = separator == "tab" ? "\t" : separator.first ?? ","
      work.policy = existing
      let progress = options.progress
      work.progress = { progress.show($0, $1, of: input.source.byteCount, "bytes") }
      defer { progress.finish() }
      let isThere = try location.isThere()
      guard !location.choice.isVolatile || dryRun else {
        throw StoreError.storeUnavailable(
          kind: location.choice.kind, advice: "Objects there would end with this command")
      }
      if isThere, codec != nil {
        throw TransferError(
          "The store is there already and keeps its codec; 'cambium compact' changes it.")
      }
      let report = try dryRun ? check(work, location, isThere) : bring(work, location, isThere)
      progress.finish()
      options.json ? Output.line(report.json.pretty) : report.printForPeople()
    }
  }

  private func check(
    _ work: Import, _ location: StoreLocation, _ isThere: Bool
  ) throws -> ImportReport {
    let known =
      isThere ? try OpenedRealm.open(location, key: try options.key()).schema.objectSchema : []
    let new = try work.newClasses(known)
    return ImportReport(
      store: location.path, isDryRun: true, newClasses: new, counts: try work.check(known + new))
  }

  private func bring(
    _ work: Import, _ location: StoreLocation, _ isThere: Bool
  ) throws -> ImportReport {
    guard !isThere else { return try fill(location, work, location.path, isThere: true) }
    let place = try NewPlace(for: location)
    // What is made on this machine goes with a signal; elsewhere it can be deleted when it is closed.
    let stop = location.choice.isRemote ? StopRequest() : nil
    defer { stop?.end() }
    do {
      let report = try fill(place.location, work, location.path, isThere: false, stop)
      try place.finish()
      return report
    } catch {
      place.clear()
      throw error
    }
  }

  /// Imports a file that Realm wrote into a new store.
  private func bringRealmFile(_ sourceKey: Data?, _ location: StoreLocation) throws {
    guard className == nil, primaryKey == nil, existing == .error, !dryRun else {
      throw TransferError(
        "A Realm file comes with all its classes, into a new store; 'cambium inspect \(document)' shows what "
          + "it holds. Leave --class, --primary-key, --existing and --dry-run out.")
    }
    guard !location.choice.isVolatile else {
      throw StoreError.storeUnavailable(
        kind: location.choice.kind, advice: "Objects there would end with this command")
    }
    let place = try NewPlace(for: location)
    do {
      let report = try Realm.bringRealmFile(
        document, key: sourceKey, into: try newStore(place.location, try options.key()),
        progress: options.progress)
      try place.finish(as: document)
      options.json
        ? Output.line(report.json(location.path).pretty) : report.printForPeople()
    } catch {
      place.clear()
      throw error
    }
  }

  /// How a store that is not there yet is made.
  private func newStore(
    _ location: StoreLocation, _ key: CodecKey?
  ) throws(StoreError) -> Realm.Configuration {
    var configuration = OpenedRealm.configuration(location, key: key, isReadOnly: false)
    // Who writes to an old file wants it to be of the newest form.
    configuration.disableFormatUpgrade = false
    // Who names a key wants encryption, whatever else pages go through.
    let chain = codec ?? "none"
    let codec = try CodecRegistry.codec(key == nil ? chain : Codecs.encrypted(chain), key: key)
    configuration.store = StoreChoice(
      kind: location.choice.kind, isRemote: location.choice.isRemote
    ) { request throws(StoreError) in
      var request = request
      request.codec = codec
      return try location.choice.open(request)
    }
    return configuration
  }

  /// Imports into the store at `location`, which is made if it is not there, and closes it.
  private func fill(
    _ location: StoreLocation, _ work: Import, _ name: String, isThere: Bool,
    _ stop: StopRequest? = nil
  ) throws -> ImportReport {
    let key = try options.key()
    let configuration: Realm.Configuration
    var known: [ObjectSchema] = []
    if isThere {
      known = try OpenedRealm.open(location, key: key).schema.objectSchema
      var existing = OpenedRealm.configuration(location, key: key, isReadOnly: false)
      existing.disableFormatUpgrade = false
      configuration = existing
    } else {
      configuration = try newStore(location, key)
    }
    let new = try work.newClasses(known)
    // A store that is made goes as a whole. In one that was there the classes come before the objects.
    let ownStop = isThere && !new.isEmpty ? StopRequest() : nil
    defer { ownStop?.end() }
    let stop = stop ?? ownStop
    var work = work
    work.progress = { [show = work.progress] in
      try stop?.check()
      try show($0, $1)
    }
    let realm = try Realm(configuration: configuration, adding: new)
    do {
      let counts = try realm.write { try work.run(in: realm) }
      return ImportReport(store: name, isDryRun: false, newClasses: new, counts: counts)
    } catch {
      if !new.isEmpty { try? realm.remove(classes: new) }
      throw error
    }
  }
}

extension Import.Policy: ExpressibleByArgument {}

/// The document that a command reads: a file, or standard input, which is kept in a file to be read again.
///
/// Pointers: bytes are lent to the system for one call, with their count, and what it says is copied at once. The
/// stream of what is kept is never closed, so that its descriptor stays good until the command ends.
private final class InputDocument {
  let source: DocumentSource

  private static let portionByteCount = 1 << 18

  init(_ path: String) throws {
    let descriptor: Int32
    if path == "-" {
      let spool = unsafe tmpfile()
      guard let spool = unsafe spool else {
        throw StoreError.system(operation: "create", path: NSTemporaryDirectory(), code: errno)
      }
      descriptor = unsafe fileno(spool)
      while true {
        let portion = FileHandle.standardInput.readData(ofLength: Self.portionByteCount)
        if portion.isEmpty { break }
        guard
          unsafe portion.withUnsafeBytes({ unsafe fwrite($0.baseAddress, 1, $0.count, spool) })
            == portion.count
        else { throw StoreError.mediumFull(path: NSTemporaryDirectory()) }
      }
      guard unsafe fflush(spool) == 0 else {
        throw StoreError.mediumFull(path: NSTemporaryDirectory())
      }
    } else {
      descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw errno == ENOENT
          ? TransferError("No document at '\(path)': No such file or directory. Check the path.")
          : TransferError(unsafe "Cannot open '\(path)': \(String(cString: strerror(errno))).")
      }
    }
    var status = stat()
    unsafe fstat(descriptor, &status)
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw TransferError("'\(path)' is no file; name a file, or '-' for standard input.")
    }
    // Each reading ends where the document ended first, whatever is appended meanwhile.
    let byteCount = Int(status.st_size)
    source = DocumentSource(name: path, byteCount: byteCount) {
      let place = Place()
      return {
        let wanted = min(Self.portionByteCount, byteCount - place.offset)
        var bytes = [UInt8](repeating: 0, count: wanted)
        let count = unsafe bytes.withUnsafeMutableBytes {
          unsafe pread(descriptor, $0.baseAddress, $0.count, place.offset)
        }
        guard count >= 0 else {
          throw TransferError(unsafe "Cannot read '\(path)': \(String(cString: strerror(errno))).")
        }
        place.offset += count
        return Array(bytes[..<count])
      }
    }
  }

  private final class Place { var offset = 0 }
}

/// What an import did, or would do.
private struct ImportReport {
  var store: String
  var isDryRun: Bool
  var newClasses: [ObjectSchema]
  var counts: [String: Import.Count]

  var json: JSONValue {
    .object([
      JSONValue.Member("store", .string(store)),
      JSONValue.Member("dryRun", .bool(isDryRun)),
      JSONValue.Member("newClasses", .array(newClasses.map(ClassDocument.json))),
      JSONValue.Member(
        "objects",
        .object(
          counts.sorted { $0.key < $1.key }.map { name, count in
            JSONValue.Member(
              name,
              .object([
                JSONValue.Member("created", .integer(Int64(count.created))),
                JSONValue.Member("updated", .integer(Int64(count.updated))),
                JSONValue.Member("skipped", .integer(Int64(count.skipped))),
              ]))
          })),
    ])
  }

  func printForPeople() {
    for type in newClasses { Output.line(SwiftModels.text(of: type)) }
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
      let parts = [
        (count.created, isDryRun ? "read" : "created"), (count.updated, "updated"),
        (count.skipped, "left alone"),
      ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      Output.line("\(name): \(parts.joined(separator: ", "))")
    }
    if counts.isEmpty { Output.line("The document has no objects.") }
    if isDryRun { Output.line("Nothing was changed.") }
  }
}
