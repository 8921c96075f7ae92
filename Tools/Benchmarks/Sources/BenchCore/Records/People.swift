/// The records of one run: people with the keys 0, 1, 2 … and what the workloads must find in them.
///
/// The same row count and seed give the same people. They are made before anything is measured and
/// lie in flat memory, so that handing one to an engine costs next to nothing.
final class People {
  /// How many people there are.
  let count: Int

  private let nameHeap: UnsafeMutablePointer<UInt8>
  private let nameOffsets: UnsafeMutablePointer<UInt32>
  private let emailHeap: UnsafeMutablePointer<UInt8>
  private let emailOffsets: UnsafeMutablePointer<UInt32>
  private let ages: UnsafeMutablePointer<UInt8>
  private let scores: UnsafeMutablePointer<Double>
  private let actives: UnsafeMutablePointer<Bool>

  private static let distinctNameCount = 100_000
  private static let longestName = 20
  private static let domain = Array("@example.com".utf8)

  /// Makes `count` people.
  init(count: Int, seed: UInt64) {
    self.count = count
    var random = RandomBits(seed: seed)
    let names = (0..<Self.distinctNameCount).map { _ in
      Self.letters(Int.random(in: 8...Self.longestName, using: &random), &random)
    }
    nameHeap = .allocate(capacity: count * Self.longestName)
    nameOffsets = .allocate(capacity: count + 1)
    emailHeap = .allocate(capacity: count * (14 + Self.domain.count))
    emailOffsets = .allocate(capacity: count + 1)
    ages = .allocate(capacity: count)
    scores = .allocate(capacity: count)
    actives = .allocate(capacity: count)
    (nameOffsets[0], emailOffsets[0]) = (0, 0)
    for person in 0..<count {
      let name = names[Int.random(in: 0..<names.count, using: &random)]
      let email = Self.letters(Int.random(in: 10...14, using: &random), &random) + Self.domain
      nameOffsets[person + 1] = Self.append(name, nameHeap, nameOffsets[person])
      emailOffsets[person + 1] = Self.append(email, emailHeap, emailOffsets[person])
      ages[person] = UInt8.random(in: 0..<100, using: &random)
      scores[person] = Double.random(in: 0..<1000, using: &random)
      actives[person] = Bool.random(using: &random)
    }
  }

  deinit {
    nameHeap.deallocate()
    nameOffsets.deallocate()
    emailHeap.deallocate()
    emailOffsets.deallocate()
    ages.deallocate()
    scores.deallocate()
    actives.deallocate()
  }

  /// The person with the key `index`; past the end, the people repeat under new keys.
  subscript(index: Int) -> Person {
    let row = index < count ? index : index % count
    return Person(
      id: Int64(index), name: name(of: row), age: Int64(ages[row]), email: email(of: row),
      score: scores[row], active: actives[row])
  }

  /// The bytes of a person's name.
  func name(of row: Int) -> UnsafeRawBufferPointer {
    Self.bytes(nameHeap, nameOffsets, row)
  }

  /// How many people have an age in `range`.
  func count(ofAgesIn range: Range<Int64>) -> Int {
    (0..<count).count { range.contains(Int64(ages[$0])) }
  }

  /// The sum of all scores, added up in key order.
  var scoreSum: Double {
    (0..<count).reduce(0) { $0 + scores[$1] }
  }

  /// About a thousand keys from all over.
  var sampleKeys: [Int64] {
    stride(from: 0, to: count, by: max(1, count / 1000)).map { Int64($0) }
  }

  /// What reading the names of ``sampleKeys`` must give.
  var sampleDigest: NameDigest {
    var digest = NameDigest()
    for key in sampleKeys { digest.add(name(of: Int(key))) }
    return digest
  }

  private func email(of row: Int) -> UnsafeRawBufferPointer {
    Self.bytes(emailHeap, emailOffsets, row)
  }

  private static func bytes(
    _ heap: UnsafePointer<UInt8>, _ offsets: UnsafePointer<UInt32>, _ row: Int
  ) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: heap + Int(offsets[row]), count: Int(offsets[row + 1] - offsets[row]))
  }

  private static func letters(_ count: Int, _ random: inout RandomBits) -> [UInt8] {
    (0..<count).map { _ in
      UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z"), using: &random)
    }
  }

  /// Puts `bytes` at `offset` of the heap and returns where they end.
  private static func append(
    _ bytes: [UInt8], _ heap: UnsafeMutablePointer<UInt8>, _ offset: UInt32
  ) -> UInt32 {
    for (index, byte) in bytes.enumerated() { heap[Int(offset) + index] = byte }
    return offset + UInt32(bytes.count)
  }
}
