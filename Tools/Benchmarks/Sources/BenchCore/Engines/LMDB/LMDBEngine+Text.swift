import CLMDB

extension LMDBEngine: TextScanning {
  func count(named name: [UInt8]) throws -> Int {
    var count = 0
    try name.withUnsafeBytes { name in
      try scan { record in
        let found = PackedPerson.name(in: record)
        if found.count == name.count, compareBytes(found, name) == 0 { count += 1 }
      }
    }
    return count
  }

  func count(nameContaining part: [UInt8]) throws -> Int {
    var count = 0
    try part.withUnsafeBytes { part in
      try scan { record in
        if PackedPerson.name(in: record).contains(part) { count += 1 }
      }
    }
    return count
  }
}

extension LMDBEngine: Sorting {
  func sortedKeys() throws -> [Int64] {
    var sorter = NameSorter(capacity: recordCount, hasAges: true)
    try scanKeys { key, record in
      sorter.add(key, age: PackedPerson.age(in: record), PackedPerson.name(in: record))
    }
    sorter.sort()
    var keys: [Int64] = []
    keys.reserveCapacity(recordCount)
    sorter.forEach { key, _ in keys.append(key) }
    return keys
  }

  func firstKeys(_ count: Int) throws -> [Int64] {
    var first = FirstPeople(count)
    try scanKeys { key, record in
      let age = PackedPerson.age(in: record)
      if age > first.greatestAge { return }
      let name = PackedPerson.name(in: record)
      if first.admits(age, name) { first.insert(key, age, name) }
    }
    return first.keys
  }

  func readAgesAndNames() throws -> (ages: Int64, names: NameDigest) {
    var (sum, digest): (Int64, NameDigest) = (0, NameDigest())
    try scan { record in
      sum += PackedPerson.age(in: record)
      digest.add(PackedPerson.name(in: record))
    }
    return (sum, digest)
  }
}
