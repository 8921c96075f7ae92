import Cambium
import CambiumCore
import CambiumFile
import CambiumRocksDB
import CambiumToolKit
import Foundation

/// What `inspect` shows.
struct Inspection: Encodable {
  struct Sizes: Encodable {
    var total, reachable, free, pending: Int
  }

  struct Tree: Encodable {
    var name, role: String
    var rows, height, pages, bytes: Int
  }

  struct Column: Encodable {
    var name, type: String
    /// The property that it stores, as schemas name its type; absent for hidden columns.
    var property: String?
    var isNullable: Bool
    var encodings: [String: Int]
    var bytes: Int
  }

  struct Class: Encodable {
    var name: String
    /// Whether its objects live inside of others.
    var isEmbedded: Bool
    var objects, bytes: Int
    var columns: [Column]
  }

  struct Pin: Encodable {
    var process: UInt32
    var label: String
    var version, newestVersion: UInt64
    var ageSeconds: Double
    /// What no other held version sees; absent where that is not known.
    var bytesAlone: Int?
  }

  var path, store, uuid, codec: String
  var formatVersion: Int
  var version, durableVersion, epoch: UInt64
  var sizes: Sizes
  /// What small commits have left in a file and in memory.
  var smallCommits: SmallCommitInspection?
  /// The versions that others hold.
  var pins: [Pin]
  var trees: [Tree]
  var classes: [Class]
  /// The pages, where they were asked for.
  var pages: PageInspection?
  var findings: [String]
  #if RocksDB
    /// What RocksDB counts, where it keeps the pages.
    var rocksDB: RocksDBStatistics?
  #endif

  /// What is in `database`; `pins` are those of others.
  init(
    database: Database, path: String, pins: [FileInspection.Pin], progress: ProgressLine
  ) throws {
    let identity = database.identity
    let statistics = try database.statistics()
    defer { progress.finish() }
    let report = try database.verify {
      progress.show("reading", $0, of: statistics.occupiedByteCount, "bytes")
    }
    progress.finish()
    self.path = path
    store = identity.kind
    uuid = String(format: "%016lx%016lx", identity.uuid.0, identity.uuid.1)
    codec = identity.codec.isEmpty ? "none" : identity.codec
    formatVersion = identity.formatVersion
    version = report.version
    durableVersion = statistics.durableVersion
    epoch = try database.snapshot().epoch
    sizes = Sizes(
      total: statistics.totalByteCount, reachable: report.reachableByteCount,
      free: statistics.freeByteCount, pending: statistics.pendingByteCount)
    let now = Date().timeIntervalSince1970
    self.pins = pins.map { pin in
      Pin(
        process: pin.processNumber, label: pin.label, version: pin.versions.lowerBound,
        newestVersion: pin.versions.upperBound, ageSeconds: max(0, now - Double(pin.since) / 1e9),
        bytesAlone: pin.versions.count == 1
          ? statistics.exclusiveByteCounts[pin.versions.lowerBound] : nil)
    }
    findings = report.findings
    trees = report.trees.map { tree in
      Tree(
        name: tree.name, role: tree.role.rawValue, rows: tree.rowCount, height: tree.height,
        pages: tree.pageCount, bytes: tree.byteCount)
    }
    let snapshot = try database.snapshot()
    classes = try report.trees
      .filter { $0.role == .table && $0.name.hasPrefix(StoredName.tablePrefix) }
      .map { tree in
        let attributes = try snapshot.table(tree.name)?.record.attributes ?? []
        return Class(
          name: String(tree.name.dropFirst(StoredName.tablePrefix.count)),
          isEmbedded: StoredClassAttributes(attributes: attributes)?.isEmbedded ?? false,
          objects: tree.rowCount, bytes: tree.byteCount,
          columns: tree.columns.map { column in
            Column(
              name: column.descriptor.name, type: "\(column.descriptor.type)",
              property: StoredProperty(attributes: column.descriptor.attributes)?.text,
              isNullable: column.descriptor.isNullable, encodings: column.leavesByEncoding,
              bytes: column.byteCount)
          })
      }
  }

  /// Leaves out all classes but those with these names, and the trees that do not belong to them; with no
  /// names nothing.
  mutating func keep(classes names: [String]) throws {
    if names.isEmpty { return }
    if let unknown = names.first(where: { name in !classes.contains { $0.name == name } }) {
      throw TransferError("There is no class '\(unknown)'.")
    }
    classes.removeAll { !names.contains($0.name) }
    trees.removeAll { tree in
      // The class is the second part of a tree's name.
      let parts = tree.name.split(separator: "/", omittingEmptySubsequences: false)
      return parts.count < 2 || !names.contains(String(parts[1]))
    }
  }

  func printForPeople() {
    Output.line("\(path)")
    Output.line("  store            \(store), format version \(formatVersion), codec \(codec)")
    Output.line("  identity         \(uuid)")
    Output.line("  version          \(version) (durable \(durableVersion), epoch \(epoch))")
    Output.line("  size             \(Output.bytes(sizes.total))")
    Output.line("    reachable      \(Output.bytes(sizes.reachable))")
    Output.line("    free           \(Output.bytes(sizes.free))")
    Output.line("    pending        \(Output.bytes(sizes.pending))")
    smallCommits?.printForPeople()
    for pin in pins {
      let versions =
        pin.version == pin.newestVersion
        ? "version \(pin.version)" : "versions \(pin.version) to \(pin.newestVersion)"
      let label = pin.label.isEmpty ? "" : " (\(pin.label))"
      Output.line(
        "  pin              \(versions) by process \(pin.process)\(label), "
          + "\(Int(pin.ageSeconds)) s old"
          + (pin.bytesAlone.map { ", \(Output.bytes($0)) of its own" } ?? ""))
    }
    #if RocksDB
      if let rocksDB { Self.show(rocksDB) }
    #endif
    Output.line("\nTrees")
    Output.table(
      [["name", "role", "rows", "height", "pages", "bytes"]]
        + trees.map {
          [$0.name, $0.role, "\($0.rows)", "\($0.height)", "\($0.pages)", "\($0.bytes)"]
        })
    for entry in classes {
      let kind = entry.isEmbedded ? "embedded objects" : "objects"
      Output.line("\n\(entry.name): \(entry.objects) \(kind), \(Output.bytes(entry.bytes))")
      Output.table(
        [["column", "property", "stored as", "bytes", "encodings (leaves)"]]
          + entry.columns.map { column in
            let mix = column.encodings.sorted { $0.value > $1.value }
              .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            let type = column.type + (column.isNullable ? "?" : "")
            return [
              column.name, column.property ?? "", type, "\(column.bytes)",
              mix.isEmpty ? "absent" : mix,
            ]
          })
    }
    pages?.printForPeople(total: sizes.total)
    if !findings.isEmpty {
      Output.line("\nThe store is damaged; 'cambium verify \(path)' says more.")
    }
  }
}
