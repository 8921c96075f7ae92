#if Zstd && Crypto
  import CambiumCore
  import CambiumFile
  import Foundation

  /// What was measured of one variant; times in seconds, the best of all rounds.
  struct Result {
    var byteCount = 0
    var coldScan = Double.infinity
    var scan = Double.infinity
    var points = Double.infinity
    var insert = Double.infinity
    /// What the scan summed up, which must be the same for all.
    var sum: UInt64 = 0
  }

  /// Scans and single reads of one copy.
  ///
  /// Pointers: a path is lent to the system for the call.
  struct Measurement {
    var path: String
    var codec: (any PageCodec)?

    static let pointCount = 50_000

    func run(into result: inout Result) throws {
      try dropFromMemory()
      let database = try Database(
        store: FileStore(path: path, options: FileStoreOptions(codec: codec)))
      let snapshot = try database.snapshot()
      result.coldScan = min(
        result.coldScan, try time { result.sum = try Scan(snapshot: snapshot).run() })
      for _ in 0..<3 {
        result.scan = min(result.scan, try time { _ = try Scan(snapshot: snapshot).run() })
      }
      let points = try Points(snapshot: snapshot, count: Self.pointCount)
      _ = try points.run()
      for _ in 0..<3 { result.points = min(result.points, try time { _ = try points.run() }) }
      withExtendedLifetime(snapshot) {}
      try database.close()
    }

    /// Lets the system forget what it holds of the file, so that the next scan reads the medium.
    private func dropFromMemory() throws {
      let descriptor = unsafe open(path, O_RDONLY)
      guard descriptor >= 0 else { return }
      fsync(descriptor)
      posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
      close(descriptor)
    }
  }

  /// How long `body` takes, in seconds.
  func time(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let duration = try clock.measure(body)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }

  /// Reads every cell of every table.
  ///
  /// Pointers: cells are copied to an array with room for all rows of the leaf, or lent for the call;
  /// the snapshot is held meanwhile.
  struct Scan {
    var snapshot: Snapshot

    /// A sum over all of them.
    func run() throws(StoreError) -> UInt64 {
      var sum: UInt64 = 0
      var ints = [Int64](repeating: 0, count: 1 << 16)
      for name in try snapshot.names(withPrefix: "class/") {
        guard let table = try snapshot.table(name) else { continue }
        for group in table.groups {
          var cursor = group.leafCursor()
          var isValid = try cursor.first()
          while isValid {
            let leaf = cursor.leaf
            for id in leaf.columnIDs {
              guard let column = leaf.column(id) else { continue }
              Self.add(column, leaf.rowCount, &ints, &sum)
            }
            isValid = try cursor.next()
          }
        }
      }
      return sum
    }

    private static func add(
      _ column: LeafColumn, _ rowCount: Int, _ ints: inout [Int64], _ sum: inout UInt64
    ) {
      func each(_ body: (Int) -> Void) {
        for row in 0..<rowCount where !column.isNull(row) { body(row) }
      }
      switch column.type {
      case .int:
        guard rowCount <= ints.count else { return }
        unsafe ints.withUnsafeMutableBufferPointer { buffer in
          guard let base = buffer.baseAddress else { return }
          unsafe column.copyInts(into: base)
          // What a leaf has where there is no value is its own business.
          if column.hasNulls {
            for row in 0..<rowCount where column.isNull(row) { unsafe base[row] = 0 }
          }
          for row in 0..<rowCount { unsafe sum &+= UInt64(bitPattern: base[row]) }
        }
      case .bytes:
        unsafe column.bytesColumn?.forEachValue { _, bytes in
          unsafe sum &+= UInt64(bytes?.count ?? 0)
        }
      case .bool: each { if column.bool($0) { sum &+= 1 } }
      case .float: each { sum &+= UInt64(column.float($0).bitPattern) }
      case .double: each { sum &+= column.double($0).bitPattern }
      case .wide: each { sum &+= column.wide($0).low }
      }
    }
  }

  /// Reads three cells of single rows, by key, all over the largest table.
  struct Points {
    private let tree: ColumnTree
    private var keys: [Int64] = []

    init(snapshot: Snapshot, count: Int) throws {
      var largest: Table?
      for name in try snapshot.names(withPrefix: "class/") {
        guard let table = try snapshot.table(name) else { continue }
        if table.count > largest?.count ?? -1 { largest = table }
      }
      guard let largest, largest.count > 0 else { throw EmptyStore() }
      tree = largest.groups[0]
      var bits: UInt64 = 42
      for _ in 0..<count {
        bits = bits &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let index = Int(truncatingIfNeeded: bits >> 33) % largest.count
        if let position = try tree.select(index) { keys.append(position.key) }
      }
    }

    func run() throws(StoreError) -> UInt64 {
      var sum: UInt64 = 0
      for key in keys {
        guard let position = try tree.seek(key) else { continue }
        for id in 1...3 as ClosedRange<UInt16> {
          guard let column = position.column(id) else { continue }
          if column.type == .int, !column.isNull(position.row) {
            sum &+= UInt64(bitPattern: column.int(position.row))
          } else {
            sum &+= column.isNull(position.row) ? 1 : 2
          }
        }
      }
      return sum
    }

    /// The store has no rows.
    struct EmptyStore: Error, CustomStringConvertible {
      let description = "The store has no objects; import some first, as 'make demo AT=PATH' does."
    }
  }

  /// Inserts rows of two numbers and a text into a new store, in one durable transaction.
  ///
  /// Pointers: texts are lent to the tree for the call, which copies them.
  struct BulkInsert {
    var path: String
    var codec: (any PageCodec)?
    var rowCount: Int

    func run(into result: inout Result) throws {
      defer {
        for file in [path, path + ".lock"] { try? FileManager.default.removeItem(atPath: file) }
      }
      let database = try Database(
        store: FileStore(path: path, options: FileStoreOptions(codec: codec)))
      let seconds = try time {
        let transaction = try database.beginWrite()
        let table = try transaction.createTable(
          "class/Row",
          columns: [
            ColumnDescriptor(type: .int, isNullable: false, name: "a"),
            ColumnDescriptor(type: .int, isNullable: false, name: "b"),
            ColumnDescriptor(type: .bytes, isNullable: false, name: "c"),
          ])
        for key in 0..<Int64(rowCount) {
          let text = Array("row \(key) of many, \(key &* 7_919 % 10_007)".utf8)
          try unsafe text.withUnsafeBytes { bytes in
            _ = try unsafe table.insert(
              key: key, values: [(1, .int(key)), (2, .int(key &* 31 % 1009)), (3, .bytes(bytes))])
          }
        }
        _ = try transaction.commit()
      }
      try database.close()
      result.insert = min(result.insert, seconds)
    }
  }
#endif
