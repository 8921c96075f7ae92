#if RADOS
  import CambiumCluster
  import CambiumCore
  import CambiumRADOS
  import Foundation
  import Synchronization

  /// The same work for every store: rows of four numbers and a text.
  ///
  /// Pointers: a text is lent to the tree for the call, which copies it.
  struct Work {
    static let tableName = "class/Row"
    private static let columns = [
      ColumnDescriptor(type: .int, isNullable: false, name: "a"),
      ColumnDescriptor(type: .int, isNullable: false, name: "b"),
      ColumnDescriptor(type: .double, isNullable: false, name: "c"),
      ColumnDescriptor(type: .int, isNullable: false, name: "d"),
      ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
    ]

    let database: Database
    init(_ database: Database) { self.database = database }

    func fill(_ count: Int) throws {
      let transaction = try database.beginWrite()
      let table = try transaction.createTable(Self.tableName, columns: Self.columns)
      for key in 0..<Int64(count) { try Self.set(key, key &* 0x9E37_79B9, in: table) }
      _ = try transaction.commit(durability: .full)
    }

    private static func set(
      _ key: Int64, _ value: Int64, in table: TableEditor
    ) throws(StoreError) {
      let text = Array("row \(key), \(value &* 0x5851_F42D_4C95_7F2D), and more".utf8)
      // A typed error does not pass through the library's closures by itself.
      let result = unsafe text.withUnsafeBytes { text in
        Result { () throws(StoreError) in
          _ = try unsafe table.insert(
            key: key,
            values: [
              (1, .int(value)), (2, .int(value >> 7)), (3, .double(Double(value))), (4, .int(key)),
              (5, .bytes(text)),
            ])
        }
      }
      try result.get()
    }

    /// The median time of a durable commit of one row, in milliseconds.
    func change(count: Int) throws -> Double {
      let rows = Int64(try database.snapshot().table(Self.tableName)?.count ?? 1)
      return try median(count: count) { index in
        try changeRows([Int64(index) &* 7919 % rows], .full)
      }
    }

    func changeMany(count: Int) throws -> Double {
      let rows = Int64(try database.snapshot().table(Self.tableName)?.count ?? 1)
      return try median(count: count) { index in
        try changeRows((0..<2000).map { (Int64(index) &* 7919 &+ $0 &* 31) % rows }, .full)
      }
    }

    private func changeRows(_ keys: [Int64], _ durability: Durability) throws {
      let transaction = try database.beginWrite()
      guard let table = try transaction.editTable(Self.tableName) else { return }
      for key in keys {
        try table.update(key: key, column: 4, value: .int(.random(in: 0...1 << 40)))
      }
      _ = try transaction.commit(durability: durability)
    }

    /// How many commits a second so many threads make, each of which waits for its own.
    func together(threads: Int, seconds: Double) throws -> Double {
      let rows = Int64(try database.snapshot().table(Self.tableName)?.count ?? 1)
      let count = Atomic(0)
      let isOver = Atomic(false)
      let group = DispatchGroup()
      let database = database
      withExtendedLifetime(database) {
        for thread in 0..<threads {
          group.enter()
          Thread {
            var key = Int64(thread)
            while !isOver.load(ordering: .relaxed) {
              key = (key &* 7919 &+ 13) % rows
              do throws(StoreError) {
                let transaction = try database.beginWrite()
                guard let table = try transaction.editTable(Self.tableName) else { break }
                _ = try table.update(key: key, column: 4, value: .int(key))
                try transaction.commitTogether()
              } catch {
                fatalError("\(error)")
              }
              count.add(1, ordering: .relaxed)
            }
            group.leave()
          }.start()
        }
        Thread.sleep(forTimeInterval: seconds)
        isOver.store(true, ordering: .relaxed)
        group.wait()
      }
      return Double(count.load(ordering: .relaxed)) / seconds
    }
  }

  extension Work {
    /// How many commits a second so many tasks make, each of which waits for its own and no thread with it.
    func together(tasks: Int, seconds: Double) throws -> Double {
      let rows = Int64(try database.snapshot().table(Self.tableName)?.count ?? 1)
      let (count, isOver) = (Counter(), Counter())
      let group = DispatchGroup()
      for task in 0..<tasks {
        group.enter()
        let database = database
        Task {
          var key = Int64(task)
          while isOver.value == 0 {
            key = (key &* 7919 &+ 13) % rows
            let key = key
            await withCheckedContinuation { end in
              database.beginWrite(expecting: .full) { result in
                do throws(StoreError) {
                  let transaction = try result.get()
                  guard let table = try transaction.editTable(Self.tableName) else { return }
                  _ = try table.update(key: key, column: 4, value: .int(key))
                  try transaction.commitTogether { failure in
                    if let failure { fatalError("\(failure)") }
                    end.resume()
                  }
                } catch {
                  fatalError("\(error)")
                }
              }
            }
            count.add()
          }
          group.leave()
        }
      }
      Thread.sleep(forTimeInterval: seconds)
      isOver.add()
      group.wait()
      return Double(count.value) / seconds
    }

    private final class Counter: Sendable {
      private let number = Atomic(0)
      var value: Int { number.load(ordering: .relaxed) }
      func add() { number.add(1, ordering: .relaxed) }
    }
  }

  /// How long it takes until another connection sees a commit.
  struct Seeing {
    private let location: RadosLocation
    init(_ location: RadosLocation) { self.location = location }

    /// The median time from a commit's return, in milliseconds.
    func run(_ writer: Database, count: Int) throws -> Double {
      let reader = try RADOSStore.open(location)
      defer { try? reader.close() }
      var times: [Double] = []
      for _ in 0..<count {
        let transaction = try writer.beginWrite()
        guard let table = try transaction.editTable(Work.tableName) else { break }
        _ = try table.update(key: 1, column: 4, value: .int(.random(in: 0...1 << 40)))
        let version = try transaction.commit(durability: .full).version
        let duration = ContinuousClock().measure {
          while reader.waitForCommit(after: version - 1, timeoutNanoseconds: .max) < version {}
        }
        times.append(duration.seconds * 1e3)
      }
      return times.sorted()[times.count / 2]
    }
  }

  /// Scans and point reads of a database that was just opened.
  enum Scans {
    struct Result {
      /// What the pages of the newest version take.
      var byteCount: Int
      var first: Double
      var second: Double
      var points: Double
    }

    static func cold(_ open: () throws -> Database) throws -> Result {
      let database = try open()
      defer { try? database.close() }
      return try run(database)
    }

    static func run(_ database: Database) throws -> Result {
      let snapshot = try database.snapshot()
      guard let table = try snapshot.table(Work.tableName) else { fatalError("No table.") }
      let tree = table.groups[0]
      var ints = [Int64](repeating: 0, count: 1 << 16)
      func scan() throws -> Double {
        try ContinuousClock().measure {
          var sum: UInt64 = 0
          var cursor = table.groups[0].leafCursor()
          var isValid = try cursor.first()
          while isValid {
            let leaf = cursor.leaf
            for id in leaf.columnIDs {
              if let column = leaf.column(id) { add(column, leaf.rowCount, &ints, &sum) }
            }
            isValid = try cursor.next()
          }
          precondition(sum != 0, "Nothing was read.")
        }.seconds
      }
      let first = try scan()
      let second = try scan()
      // Where memory does not hold all, each one takes as long as the way to the cluster.
      var count = 0
      let end = ContinuousClock().now + .seconds(2)
      let duration = try ContinuousClock().measure {
        while count < 200_000, count % 1000 != 0 || ContinuousClock().now < end {
          let index = Int64(count)
          count += 1
          let key = index &* 7919 % Int64(table.count)
          guard let position = try tree.seek(key), let column = position.column(4) else {
            fatalError("Row \(key) is missing.")
          }
          precondition(!column.isNull(position.row))
        }
      }
      withExtendedLifetime(snapshot) {}
      let statistics = try database.statistics()
      let byteCount =
        statistics.totalByteCount - statistics.freeByteCount - statistics.pendingByteCount
      return Result(
        byteCount: byteCount, first: first, second: second, points: Double(count) / duration.seconds
      )
    }

    /// Adds up a column.
    ///
    /// Pointers: numbers are copied to an array with room for all rows of the leaf.
    private static func add(
      _ column: LeafColumn, _ rowCount: Int, _ ints: inout [Int64], _ sum: inout UInt64
    ) {
      switch column.type {
      case .int:
        unsafe ints.withUnsafeMutableBufferPointer { buffer in
          guard let base = buffer.baseAddress else { return }
          unsafe column.copyInts(into: base)
          for row in 0..<rowCount { unsafe sum &+= UInt64(bitPattern: base[row]) }
        }
      case .bytes:
        unsafe column.bytesColumn?.forEachValue { _, bytes in
          unsafe sum &+= UInt64(bytes?.count ?? 1)
        }
      default: for row in 0..<rowCount { sum &+= column.double(row).bitPattern }
      }
    }
  }
#endif
