import CPeerRocksDB

extension RocksDBEngine: TextScanning {
  func count(named name: [UInt8]) throws -> Int {
    var count = 0
    try name.withUnsafeBytes { name in
      try scan { _, record in
        guard let start = record.baseAddress else { return }
        let found = PackedPerson.name(in: start)
        if found.count == name.count, compareBytes(found, name) == 0 { count += 1 }
      }
    }
    return count
  }

  func count(nameContaining part: [UInt8]) throws -> Int {
    var count = 0
    try part.withUnsafeBytes { part in
      try scan { _, record in
        guard let start = record.baseAddress else { return }
        if PackedPerson.name(in: start).contains(part) { count += 1 }
      }
    }
    return count
  }
}

extension RocksDBEngine: Sorting {
  func sortedKeys() throws -> [Int64] {
    var sorter = NameSorter(capacity: 0, hasAges: true)
    try scan { key, record in
      guard let start = record.baseAddress else { return }
      sorter.add(key, age: PackedPerson.age(in: start), PackedPerson.name(in: start))
    }
    sorter.sort()
    var keys: [Int64] = []
    sorter.forEach { key, _ in keys.append(key) }
    return keys
  }

  func firstKeys(_ count: Int) throws -> [Int64] {
    var first = FirstPeople(count)
    try scan { key, record in
      guard let start = record.baseAddress else { return }
      let age = PackedPerson.age(in: start)
      if age > first.greatestAge { return }
      let name = PackedPerson.name(in: start)
      if first.admits(age, name) { first.insert(key, age, name) }
    }
    return first.keys
  }

  func readAgesAndNames() throws -> (ages: Int64, names: NameDigest) {
    var (sum, digest): (Int64, NameDigest) = (0, NameDigest())
    try scan { _, record in
      guard let start = record.baseAddress else { return }
      sum += PackedPerson.age(in: start)
      digest.add(PackedPerson.name(in: start))
    }
    return (sum, digest)
  }
}
