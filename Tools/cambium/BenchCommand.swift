import ArgumentParser
import Cambium
import CambiumCore
import CambiumToolKit
import Foundation

/// `cambium bench FOLDER`: what this medium and this kind of store take for common work.
///
/// Pointers: paths and an array are lent to the system for one call, the array with its length.
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measures common work in a store of its own, in a few seconds.",
    discussion: """
      The store is made in a folder on the medium to measure, and removed at the end:

        cambium bench /data
        cambium bench /data --store rocksdb --codec zstd:3
        cambium bench --objects 1000000 --json

      The medium's own figure is that of overwriting a block of 4 KiB and waiting for it. Figures are medians; a \
      machine that does something else shows in them.
      """)

  @Argument(help: "The folder on the medium to measure.", completion: .directory)
  var folder = "."

  @Option(help: "The kind of store: file, memory or rocksdb.") var store = "file"

  @Option(help: "What its pages go through, such as 'zstd:3'.") var codec = "none"

  @Option(help: "How many objects it has.") var objects = 100_000

  @Flag(help: "Print JSON instead of text.") var json = false

  func validate() throws {
    guard (1_000...100_000_000).contains(objects) else {
      throw ValidationError("--objects takes 1000 to 100000000.")
    }
  }

  func run() throws {
    try CommonOptions.reportingErrors {
      let place = try TestFolder(in: folder)
      defer { place.remove() }
      var figures: [Figure] = []
      if store != "memory" { figures.append(try Self.medium(place.path)) }
      figures += try measure(place.path + "/store")
      guard json else {
        return Output.table(
          [["work", "", ""]] + figures.map { [$0.name, $0.text, $0.unit] }, indent: "")
      }
      Output.line(
        JSONValue.array(
          figures.map {
            .object([
              .init("work", .string($0.name)), .init("value", .number($0.value)),
              .init("unit", .string($0.unit)),
            ])
          }
        ).pretty)
    }
  }

  /// One line of the answer.
  private struct Figure {
    var name: String
    var value: Double
    var unit: String

    var text: String { String(format: value < 10 ? "%.2f" : "%.0f", value) }
  }

  /// How often small work is repeated.
  private static let repetitions = 101

  private static func seconds(_ body: () throws -> Void) rethrows -> Double {
    let time = try ContinuousClock().measure(body)
    return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
  }

  private static func median(_ body: (Int) throws -> Void) rethrows -> Double {
    try (0..<repetitions).map { round in try seconds { try body(round) } }.sorted()[repetitions / 2]
  }

  private static func medium(_ folder: String) throws -> Figure {
    let path = folder + "/block"
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreError.system(operation: "create", path: path, code: errno)
    }
    defer { close(descriptor) }
    let block = [UInt8](repeating: 7, count: 4096)
    func write() throws {
      guard
        unsafe block.withUnsafeBytes({ unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) })
          == block.count,
        fsync(descriptor) == 0
      else { throw StoreError.system(operation: "write", path: path, code: errno) }
    }
    try write()
    return Figure(
      name: "overwrite 4 KiB and wait for the medium", value: try median { _ in try write() } * 1e6,
      unit: "µs")
  }

  private func measure(_ path: String) throws -> [Figure] {
    var configuration =
      store == "memory"
      ? Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
      : try Realm.Configuration(location: "\(store):\(path)")
    configuration.objectTypes = [BenchPerson.self]
    if codec != "none" { configuration.codec = .named(codec) }
    let realm = try Realm(configuration: configuration)
    let count = objects
    let create = try Self.seconds {
      try realm.write {
        for id in 0..<count { realm.add(BenchPerson(id: id)) }
      }
    }
    let people = realm.objects(BenchPerson.self)
    func random(_ round: Int) -> Int { (round &* 7_919 &+ 1) % count }
    let commit = try Self.median { round in
      try realm.write {
        realm.object(ofType: BenchPerson.self, forPrimaryKey: random(round))?.age = round
      }
    }
    var sum = 0
    let reads = min(count, 100_000)
    let lookup = Self.seconds {
      for round in 0..<reads {
        sum += realm.object(ofType: BenchPerson.self, forPrimaryKey: random(round))?.name.count ?? 0
      }
    }
    let scan = Self.median { _ in sum += people.where { $0.age >= 30 && $0.age < 40 }.count }
    let text = Self.median { _ in sum += people.where { $0.name.contains("ab") }.count }
    let size =
      store == "file" ? try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int : nil
    // Nothing of it may be left out because nobody asks for it.
    precondition(sum >= 0)
    return [
      Figure(
        name: "create \(count) objects in one transaction", value: create * 1e9 / Double(count),
        unit: "ns each"),
      Figure(name: "change one property and commit", value: commit * 1e6, unit: "µs"),
      Figure(
        name: "look up by primary key and read a text", value: lookup * 1e9 / Double(reads),
        unit: "ns"),
      Figure(name: "count 30 ≤ age < 40", value: scan * 1e6, unit: "µs"),
      Figure(name: "count texts that contain \"ab\"", value: text * 1e6, unit: "µs"),
    ]
      + (size.map {
        [Figure(name: "size of the file", value: Double($0) / Double(count), unit: "bytes each")]
      } ?? [])
  }
}

/// What the benchmark's store holds.
final class BenchPerson: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted(indexed: true) var group: Int
  @Persisted var age: Int
  @Persisted var score: Double

  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  convenience init(id: Int) {
    self.init()
    self.id = id
    name = String(id &* 2_654_435_761 & 0xFF_FFFF, radix: 36)
    (group, age, score) = (id & 0xFF, id * 37 % 100, Double(id) / 3)
  }
}

/// A folder of this command's own.
///
/// Pointers: a path is lent to the system for one call.
private struct TestFolder {
  let path: String
  private let cleanup: Cleanup

  init(in folder: String) throws {
    let path = (folder as NSString).appendingPathComponent("cambium-bench-\(getpid())")
    cleanup = try Cleanup(
      making: { () throws(StoreError) in
        guard unsafe mkdir(path, 0o700) != 0 else { return }
        switch errno {
        case ENOENT, ENOTDIR: throw .parentNotFound(path: path)
        case EACCES, EROFS: throw .permissionDenied(path: path, operation: "create")
        case let code: throw .system(operation: "create", path: path, code: code)
        }
      }, { Cleanup.removeFolder(path) })
    self.path = path
  }

  func remove() { cleanup.run() }
}
