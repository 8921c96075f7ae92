import Cambium
import CambiumCore
import CambiumToolKit
import Foundation

// Files that Realm itself wrote, which some commands read as they are.

extension CodecKey {
  /// The key's bytes, for who takes them so; they are not wiped.
  var data: Data {
    withBytes { bytes in Data(bytes.indices.map { bytes[$0] }) }
  }
}

extension CommonOptions {
  /// Runs `body` with the store as a Realm that is only read, with the classes that it describes itself.
  func withRealm<Result>(_ body: (Realm) throws -> Result) throws -> Result {
    try Self.withRealm(location(), key: key(), progress: progress, body)
  }

  /// The same for any store; the content of a `.realm` file is brought to a place
  /// of its own first, where it stays as long as `body` runs.
  static func withRealm<Result>(
    _ location: StoreLocation, key: CodecKey?, progress: ProgressLine,
    _ body: (Realm) throws -> Result
  ) throws -> Result {
    guard RealmFileSummary.isRealmFile(location.path, encryptionKey: key?.data) else {
      return try body(OpenedRealm.open(location, key: key))
    }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cambium-\(UUID().uuidString)").path
    let cleanup = Cleanup { Cleanup.removeFolder(folder) }
    defer { cleanup.run() }
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // What was encrypted stays so, also if this process is killed.
    let place = StoreLocation(choice: .file, path: folder + "/store")
    let codec = try key.flatMap { key in
      try CodecRegistry.codec(Codecs.encrypted("none"), key: key)
    }
    var configuration = OpenedRealm.configuration(place, key: key, isReadOnly: false)
    configuration.store = StoreChoice(kind: place.choice.kind) { request throws(StoreError) in
      var request = request
      request.codec = codec
      return try place.choice.open(request)
    }
    try Realm.bringRealmFile(
      location.path, key: key?.data, into: configuration, progress: progress)
    return try body(OpenedRealm.open(place, key: key))
  }
}

extension Realm {
  /// Imports a `.realm` file, and shows how far that is; the key counts if it is encrypted.
  @discardableResult
  static func bringRealmFile(
    _ path: String, key: Data?, into configuration: Realm.Configuration, progress: ProgressLine
  ) throws -> ImportReport {
    #if RealmFile
      defer { progress.finish() }
      return try importRealmFile(
        at: URL(fileURLWithPath: path),
        encryptionKey: RealmFileSummary.isPlainRealmFile(path) ? nil : key, into: configuration
      ) { state in
        let what = state.stage == .importing ? "importing" : "comparing"
        progress.show("\(what) \(state.className)", state.completed, of: state.total, "objects")
      }
    #else
      _ = try RealmFileSummary(path: path, encryptionKey: key)
      throw TransferError("Realm files cannot be read here.")
    #endif
  }
}

extension RealmFileSummary {
  /// The classes that an import brings.
  var schema: Schema { Schema(classes.filter { !$0.isAsymmetric }.map(\.schema)) }

  /// Leaves the other classes out; throws for one that is not there.
  mutating func keep(classes names: [String]) throws(TransferError) {
    if names.isEmpty { return }
    for name in names where !classes.contains(where: { $0.schema.className == name }) {
      throw TransferError("There is no class '\(name)'.")
    }
    classes.removeAll { !names.contains($0.schema.className) }
  }

  /// What `inspect` shows of the file.
  var json: JSONValue {
    .object([
      JSONValue.Member("path", .string(path)),
      JSONValue.Member("kind", .string("realm")),
      JSONValue.Member("formatVersion", .integer(Int64(format))),
      JSONValue.Member("isEncrypted", .bool(isEncrypted)),
      JSONValue.Member("isCopy", .bool(isCopy)),
      JSONValue.Member("bytes", .integer(Int64(byteCount))),
      JSONValue.Member("version", .integer(Int64(clamping: version))),
      JSONValue.Member(
        "schemaVersion", schemaVersion.map { .integer(Int64(clamping: $0)) } ?? .null),
      JSONValue.Member(
        "classes",
        .array(
          classes.map { type in
            .object([
              JSONValue.Member("objects", .integer(Int64(type.objectCount))),
              JSONValue.Member("isAsymmetric", .bool(type.isAsymmetric)),
              JSONValue.Member("schema", ClassDocument.json(type.schema)),
            ])
          })),
    ])
  }

  func printForPeople() {
    Output.line(path)
    Output.line("  written by       Realm, format version \(format)\(isCopy ? ", a copy" : "")")
    Output.line("  encrypted        \(isEncrypted ? "yes" : "no")")
    Output.line("  version          \(version)")
    Output.line("  schema version   \(schemaVersion.map { "\($0)" } ?? "none")")
    Output.line("  size             \(Output.bytes(byteCount))")
    for type in classes {
      let kind = type.schema.isEmbedded ? "embedded objects" : "objects"
      let note = type.isAsymmetric ? ", which are only sent elsewhere" : ""
      Output.line("\n\(type.schema.className): \(type.objectCount) \(kind)\(note)")
      if type.schema.properties.isEmpty { continue }
      Output.table(
        [["property", "type", ""]]
          + type.schema.properties.map {
            [
              $0.name, SwiftModels.typeName(of: $0),
              $0.isPrimaryKey ? "primary key" : $0.isIndexed ? "indexed" : "",
            ]
          })
    }
    Output.line("\n'cambium import \(path) NEW' brings the content into a store.")
  }
}

extension Realm.ImportReport {
  /// What `import` shows of a Realm file, whose content went to `store`.
  func json(_ store: String) -> JSONValue {
    .object([
      JSONValue.Member("store", .string(store)),
      JSONValue.Member("formatVersion", .integer(Int64(format))),
      JSONValue.Member(
        "schemaVersion", schemaVersion.map { .integer(Int64(clamping: $0)) } ?? .null),
      JSONValue.Member(
        "objects",
        .object(
          classes.map { JSONValue.Member($0.className, .integer(Int64($0.objectCount))) })),
      JSONValue.Member("classesLeftOut", .array(classesLeftOut.map { .string($0) })),
      JSONValue.Member("repairedTexts", .integer(Int64(repairedTextCount))),
    ])
  }

  func printForPeople() {
    for type in classes { Output.line("\(type.className): \(type.objectCount) created") }
    if classes.isEmpty { Output.line("The file has no classes.") }
    for name in classesLeftOut {
      Output.line("\(name): left out, its objects are only sent elsewhere")
    }
    if repairedTextCount > 0 {
      Output.line("\(repairedTextCount) texts were no valid UTF-8; what is not is U+FFFD now.")
    }
    Output.line("All of it was compared with the old file.")
  }
}
