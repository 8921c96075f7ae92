import CambiumFile

@testable import CambiumCore

/// Opens a damaged file, reads, verifies and writes it.
enum DamagedFile {
  /// A small file with every kind of page in it.
  static let image = SealedImage((try? makeFile(rowCount: 250)) ?? [])
  /// Where it holds anything.
  private static let places = image.bytes.indices.filter { image.bytes[$0] != 0 }

  /// The first byte says how: bit 0 puts checksums right, bit 1 cuts the file.
  ///
  /// Then come changes of
  /// four bytes: three for a place among the bytes in use, one for what to do to it.
  static func run(_ bytes: UnsafeRawBufferPointer) {
    var supply = ByteSupply(bytes)
    let mode = supply.byte()
    var changed = image.bytes
    if mode & 2 != 0 {
      let length = supply.number(below: changed.count)
      changed.removeLast(changed.count - length)
    }
    while !supply.isEmpty {
      let place = places[supply.number(below: places.count)]
      let change = supply.byte()
      if place < changed.count { changed[place] ^= change }
    }
    if mode & 1 != 0 { image.seal(&changed) }
    use(changed)
  }

  /// The database in a file that lies in memory.
  static func open(_ device: MemoryDevice) throws(StoreError) -> Database {
    try Database(store: store(device))
  }

  /// The store of a file that lies in memory.
  static func store(
    _ device: MemoryDevice, _ change: (inout FileStoreOptions) -> Void = { _ in }
  ) throws(StoreError) -> FileStore {
    var options = FileStoreOptions(access: .buffered)
    change(&options)
    options.device = { _ throws(StoreError) in device }
    return try FileStore(path: "fuzz", options: options)
  }

  /// Reads, verifies, writes and copies what a file of these bytes has.
  static func use(_ bytes: [UInt8]) {
    tolerating { () throws(StoreError) in
      let database = try open(MemoryDevice(bytes))
      read(try database.snapshot())
      _ = try database.verify()
      _ = try database.statistics()
      write(database)
      read(try database.snapshot())
      try database.close()
    }
    tolerating { () throws(StoreError) in
      let database = try open(MemoryDevice(bytes))
      try database.copy(to: open(MemoryDevice()))
    }
  }

  private static func read(_ view: any ReadTransaction) {
    tolerating { () throws(StoreError) in
      for name in try view.names(withPrefix: "") {
        tolerating { () throws(StoreError) in
          if let table = try view.table(name) {
            for group in table.groups { TreeExercise.read(group) }
            for key in 0..<20 as Range<Int64> { _ = try table.seek(key) }
          } else if let tree = try view.keyTree(name) {
            TreeExercise.read(tree)
          } else {
            _ = try view.value(name)
          }
        }
      }
    }
  }

  private static func write(_ database: Database) {
    tolerating { () throws(StoreError) in
      let transaction = try database.beginWrite()
      try change(transaction, key: 5)
      _ = try transaction.drop("index/U")
      _ = try transaction.commit()
    }
  }

  /// Makes one change of each kind, around the row with that key.
  static func change(_ transaction: Transaction, key: Int64) throws(StoreError) {
    if let table = try transaction.editTable("class/T") {
      for key in 0..<3 as Range<Int64> {
        _ = try table.update(key: key, column: 1, value: .int(key))
      }
      _ = try table.remove(key: key)
      _ = try table.insert(key: 70_000 + key, values: [])
    }
    _ = try transaction.editKeyTree("index/T").set([UInt8(key & 0xff)], [2])
  }

  // MARK: The file

  /// A file of three commits with `rowCount` rows and keys each, not closed, as after a crash.
  static func makeFile(rowCount: Int64) throws(StoreError) -> [UInt8] {
    let device = MemoryDevice()
    let database = try open(device)
    for part in 0..<3 as Range<Int64> {
      let transaction = try database.beginWrite()
      let table: TableEditor
      if let known = try transaction.editTable("class/T") {
        table = known
      } else {
        table = try transaction.createTable("class/T", columns: columns)
        _ = try transaction.createTable("class/Empty", columns: columns)
      }
      for key in part * rowCount..<(part + 1) * rowCount {
        try insert(key, into: table, transaction)
      }
      let keys = try transaction.editKeyTree("index/T")
      let dropped = try transaction.editKeyTree("index/U")
      for key in 0..<rowCount as Range<Int64> {
        let name = Array("a key with a prefix \(key * 37 % 1009 + part)".utf8)
        _ = try keys.set(name, [UInt8](repeating: 1, count: key == 7 ? 2000 : Int(key % 7)))
        if key < 40 { _ = try dropped.set(name, name) }
      }
      try transaction.setValue("value", [1, 2, 3])
      _ = try transaction.commit()
    }
    return device.bytes
  }

  private static let columns = [
    ColumnDescriptor(type: .int, isNullable: true, name: "int"),
    ColumnDescriptor(type: .bool, isNullable: false, name: "bool"),
    ColumnDescriptor(type: .float, isNullable: true, name: "float"),
    ColumnDescriptor(type: .double, isNullable: false, name: "double"),
    ColumnDescriptor(type: .wide, isNullable: true, name: "wide"),
    ColumnDescriptor(type: .bytes, isNullable: true, name: "text"),
    ColumnDescriptor(type: .bytes, isNullable: false, name: "large"),
  ]

  private static func insert(
    _ key: Int64, into table: TableEditor, _ transaction: Transaction
  ) throws(StoreError) {
    let text = Array("text \(key % 7)".utf8)
    let large = [UInt8](repeating: UInt8(key & 0xff), count: key == 5 ? 3_000 : Int(key % 5))
    let values = text.withUnsafeBytes { text in
      large.withUnsafeBytes { large in
        Result<Void, StoreError> { () throws(StoreError) in
          _ = try table.insert(
            key: key,
            values: [
              (1, key % 5 == 0 ? .null : .int(key * 1_000_003)), (2, .bool(key % 3 == 0)),
              (3, .float(Float(key) / 3)), (4, .double(Double(key) / 7)),
              (5, .wide(low: UInt64(key), high: ~UInt64(key))), (6, .bytes(text)),
              (7, .bytes(large)),
            ])
        }
      }
    }
    try values.get()
    guard key == 6 else { return }
    // A list that outgrew its row.
    let list = ColumnTreeEditor(
      root: .empty(.position),
      layout: ColumnLayout([ColumnSpec(id: 1, type: .int, isNullable: false)]),
      context: transaction.context)
    for element in 0..<100 {
      try list.insert(at: element, values: [.int(Int64(element * element))])
    }
    _ = try table.update(key: key, column: 7, value: .tree(try list.flush()))
  }
}
