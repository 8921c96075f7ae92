import CPeerRocksDB
import Foundation

/// The index is a second database, written as one sorted table that RocksDB takes over.
extension RocksDBEngine: Indexing {
  private var indexFolder: String { folder + "-index" }
  private var indexFile: String { folder + "-index.sst" }

  func buildIndex() throws {
    var sorter = NameSorter(capacity: 0, hasAges: false)
    try scan { key, record in
      if let start = record.baseAddress {
        sorter.add(key, age: 0, PackedPerson.name(in: start))
      }
    }
    sorter.sort()
    index = try check { rocksdb_open(options, indexFolder, &$0) }
    try writeTable(sorter)
    let ingestion = rocksdb_ingestexternalfileoptions_create()
    defer { rocksdb_ingestexternalfileoptions_destroy(ingestion) }
    rocksdb_ingestexternalfileoptions_set_move_files(ingestion, 1)
    try indexFile.withCString { name in
      var names: UnsafePointer<CChar>? = name
      try check { rocksdb_ingest_external_file(index, &names, 1, ingestion, &$0) }
    }
  }

  private func writeTable(_ sorter: NameSorter) throws {
    let environment = rocksdb_envoptions_create()
    let writer = rocksdb_sstfilewriter_create(environment, options)
    defer {
      rocksdb_sstfilewriter_destroy(writer)
      rocksdb_envoptions_destroy(environment)
    }
    try check { rocksdb_sstfilewriter_open(writer, indexFile, &$0) }
    try sorter.forEach { key, name in
      try IndexKey.with(name, key) { key in
        try check { rocksdb_sstfilewriter_put(writer, key.chars, key.count, nil, 0, &$0) }
      }
    }
    try check { rocksdb_sstfilewriter_finish(writer, &$0) }
  }

  func indexedCounts(of names: [[UInt8]]) throws -> Int {
    var count = 0
    try forEachHit(of: names) { _ in count += 1 }
    return count
  }

  func indexedAges(of names: [[UInt8]]) throws -> Int64 {
    var sum: Int64 = 0
    try forEachHit(of: names) { key in
      sum += try withRecord(key) { $0.map(PackedPerson.age) ?? 0 }
    }
    return sum
  }

  private func forEachHit(of names: [[UInt8]], _ body: (Int64) throws -> Void) throws {
    let iterator = rocksdb_create_iterator(index, readOptions)
    defer { rocksdb_iter_destroy(iterator) }
    for name in names {
      try name.withUnsafeBytes { name in
        try IndexKey.with(name, end: 0) { prefix in
          rocksdb_iter_seek(iterator, prefix.chars, prefix.count)
          while rocksdb_iter_valid(iterator) != 0 {
            var length = 0
            let key = UnsafeRawBufferPointer(
              start: rocksdb_iter_key(iterator, &length), count: length)
            guard length == prefix.count + 8,
              compareBytes(UnsafeRawBufferPointer(rebasing: key[..<prefix.count]), prefix) == 0
            else { break }
            try body(
              Int64(bigEndian: key.loadUnaligned(fromByteOffset: prefix.count, as: Int64.self)))
            rocksdb_iter_next(iterator)
          }
        }
      }
    }
  }

  func dropIndex() throws {
    rocksdb_close(index)
    index = nil
    try FileManager.default.removeItem(atPath: indexFolder)
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes as the C functions want them.
  fileprivate var chars: UnsafePointer<CChar>? {
    baseAddress?.assumingMemoryBound(to: CChar.self)
  }
}
