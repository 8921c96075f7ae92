#if Zstd && Crypto && RocksDB
  import CambiumCore
  import CambiumFile
  import CambiumMemory
  import CambiumRocksDB
  import Foundation

  /// A kind of store that is measured.
  enum BenchedStore: String, CaseIterable {
    case memory, file, rocksdb

    /// Opens it as its documentation advises; with a codec RocksDB need not compress as well.
    func open(_ path: String, _ codec: (any PageCodec)?) throws(StoreError) -> any PageStore {
      switch self {
      case .memory:
        guard let codec else { return MemoryStore(name: path) }
        return try MemoryStore(name: path, codec: codec)
      case .file: return try FileStore(path: path, options: FileStoreOptions(codec: codec))
      case .rocksdb:
        var options = RocksDBOptions(codec: codec)
        if codec != nil { options.compression = .none }
        return try RocksDBStore(path: path, options: options)
      }
    }
  }

  /// All the work on one store with one codec.
  ///
  /// Pointers: a path and its result are lent to the system for the call.
  struct StoreWork {
    var store: BenchedStore
    var path: String
    var codec: (any PageCodec)?
    var rowCount: Int
    var commitCount: Int

    func run(into result: inout StoreResult) throws {
      defer { remove() }
      let first = try store.open(path, codec)
      let filling = try Database(store: first)
      result.insert = min(result.insert, try time { try fill(filling) })
      // A name in memory ends with its last user.
      let keeper: (any PageStore)? = store == .memory ? try store.open(path, codec) : nil
      result.commit = min(result.commit, try each(0) { try change(filling, $0, .full) })
      result.relaxed = min(result.relaxed, try each(1) { try change(filling, $0, .relaxed) })
      try filling.close()
      result.byteCount = byteCount
      try read(into: &result)
      try keeper?.close()
      try compact()
      result.compactedByteCount = byteCount
    }

    private func read(into result: inout StoreResult) throws {
      var opened: (Database, Snapshot)?
      result.open = min(
        result.open,
        try time {
          let database = try Database(store: store.open(path, codec))
          let snapshot = try database.snapshot()
          let count = try snapshot.table(Self.tableName)?.count
          precondition(count == rowCount + 2 * commitCount, "Rows are missing.")
          opened = (database, snapshot)
        })
      guard let (database, snapshot) = opened else { return }
      result.coldScan = min(
        result.coldScan, try time { result.sum = try Scan(snapshot: snapshot).run() })
      for _ in 0..<3 {
        result.scan = min(result.scan, try time { _ = try Scan(snapshot: snapshot).run() })
      }
      let points = try Points(snapshot: snapshot, count: Measurement.pointCount)
      _ = try points.run()
      for _ in 0..<3 { result.points = min(result.points, try time { _ = try points.run() }) }
      withExtendedLifetime(snapshot) {}
      opened = nil
      try database.close()
    }

    /// What all files of the store take.
    private var byteCount: Int {
      let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
      return ([path] + names.map { path + "/" + $0 }).reduce(0) { sum, file in
        var status = stat()
        guard unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
          return sum
        }
        return sum + Int(status.st_size)
      }
    }

    private func compact() throws {
      switch store {
      case .memory: break
      case .file: _ = try FileStore.compact(path: path, codec: codec)
      case .rocksdb:
        let opened = try store.open(path, codec)
        try (opened as? RocksDBStore)?.compact()
        try opened.close()
      }
    }

    private func remove() {
      for file in [path, path + ".lock"] { try? FileManager.default.removeItem(atPath: file) }
    }
  }

  // MARK: Rows

  extension StoreWork {
    private static let tableName = "class/Flight"

    private func fill(_ database: Database) throws(StoreError) {
      let transaction = try database.beginWrite()
      let table = try transaction.createTable(Self.tableName, columns: Flight.columns)
      for key in 0..<Int64(rowCount) { try Flight(key).insert(into: table) }
      _ = try transaction.commit(durability: .full)
    }

    /// What a commit takes, each of the `round`th `commitCount` rows that are added.
    private func each(_ round: Int, _ body: (Int64) throws -> Void) throws -> Double {
      let first = rowCount + round * commitCount
      return try time { for key in first..<first + commitCount { try body(Int64(key)) } }
        / Double(commitCount)
    }

    private func change(
      _ database: Database, _ key: Int64, _ durability: Durability
    ) throws(StoreError) {
      let transaction = try database.beginWrite(expecting: durability)
      guard let table = try transaction.editTable(Self.tableName) else { return }
      try Flight(key).insert(into: table)
      _ = try transaction.commit(durability: durability)
    }
  }

  /// A row such as those of the flights that left New York in 2013; what it holds follows from its key.
  ///
  /// Pointers: texts are lent to the tree for the call, which copies them.
  struct Flight {
    private let key: Int64
    private var state: UInt64

    init(_ key: Int64) {
      self.key = key
      state = UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15 &+ 1
    }

    static let columns: [ColumnDescriptor] =
      ["year", "month", "day"].map { ColumnDescriptor(type: .int, isNullable: false, name: $0) }
      + ["departure", "departureDelay", "arrival", "arrivalDelay"].map {
        ColumnDescriptor(type: .int, isNullable: true, name: $0)
      }
      + ["carrier", "tail", "origin", "destination"].map {
        ColumnDescriptor(type: .bytes, isNullable: $0 == "tail", name: $0)
      }
      + ["airTime", "distance"].map { ColumnDescriptor(type: .double, isNullable: true, name: $0) }
      + [ColumnDescriptor(type: .int, isNullable: false, name: "number")]

    private mutating func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state &>> 33) % bound
    }

    private static let carriers = ["UA", "B6", "EV", "DL", "AA", "MQ", "US", "9E", "WN", "VX"]
    private static let origins = ["EWR", "JFK", "LGA"]
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    func insert(into table: TableEditor) throws(StoreError) {
      var flight = self
      let minute = Int(key % 1_440)
      let delay = flight.random(5) == 0 ? flight.random(240) : flight.random(20) - 10
      let isCancelled = flight.random(40) == 0
      let route = flight.random(105)
      let carrier = Array(Self.carriers[min(flight.random(10), flight.random(10))].utf8)
      let tail =
        Array("N\(100 + flight.random(900))".utf8) + [Self.letters[flight.random(26)], 65]
      let origin = Array(Self.origins[flight.random(3)].utf8)
      let destination = [
        Self.letters[route % 26], Self.letters[route * 7 % 26], Self.letters[route / 10],
      ]
      let miles = Double(100 + route * 25)
      let day = Int(key / 922) % 365
      let airTime = (miles / 8 + Double(flight.random(20))).rounded()
      let number = 1 + flight.random(6_000)
      func time(_ value: Int) -> ColumnValue { isCancelled ? .null : .int(Int64(value)) }
      // A typed error does not pass through the library's closures by itself.
      let result = unsafe carrier.withUnsafeBytes { carrier in
        unsafe tail.withUnsafeBytes { tail in
          unsafe origin.withUnsafeBytes { origin in
            unsafe destination.withUnsafeBytes { destination in
              Swift.Result { () throws(StoreError) in
                _ = try unsafe table.insert(
                  key: key,
                  values: [
                    (1, .int(2013)), (2, .int(Int64(day / 31 + 1))), (3, .int(Int64(day % 31 + 1))),
                    (4, time(minute + delay)), (5, time(delay)),
                    (6, time(minute + delay + Int(airTime))), (7, time(delay - 5)),
                    (8, .bytes(carrier)), (9, isCancelled ? .null : .bytes(tail)),
                    (10, .bytes(origin)), (11, .bytes(destination)),
                    (12, isCancelled ? .null : .double(airTime)), (13, .double(miles)),
                    (14, .int(Int64(number))),
                  ])
              }
            }
          }
        }
      }
      try result.get()
    }
  }
#endif
