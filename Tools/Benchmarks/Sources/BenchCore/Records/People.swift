/// The records of one run: people with the keys 0, 1, 2 … and what the workloads must find in them.
///
/// The same row count and seed give the same people. They are made before anything is measured and
/// lie in flat memory, so that handing one to an engine costs next to nothing.
final class People {
  /// How many people there are.
  let count: Int

  private let nameHeap: UnsafeMutablePointer<UInt8>
  private let nameOffsets: [UInt32]
  private let nameOfPerson: UnsafeMutablePointer<UInt32>
  private let emailHeap: UnsafeMutablePointer<UInt8>
  private let emailOffsets: UnsafeMutablePointer<UInt32>
  private let ages: UnsafeMutablePointer<UInt8>
  private let scores: UnsafeMutablePointer<Double>
  private let actives: UnsafeMutablePointer<Bool>

  private static let nameCount = 100_000
  private static let domain = Array("@example.com".utf8)

  /// Makes `count` people.
  init(count: Int, seed: UInt64) {
    self.count = count
    var random = RandomBits(seed: seed)

    nameHeap = .allocate(capacity: Self.nameCount * 20)
    var offsets: [UInt32] = [0]
    var end = 0
    for _ in 0..<Self.nameCount {
      end += Self.fill(nameHeap + end, letters: Int.random(in: 8...20, using: &random), &random)
      offsets.append(UInt32(end))
    }
    nameOffsets = offsets

    nameOfPerson = .allocate(capacity: count)
    emailHeap = .allocate(capacity: count * (14 + Self.domain.count))
    emailOffsets = .allocate(capacity: count + 1)
    ages = .allocate(capacity: count)
    scores = .allocate(capacity: count)
    actives = .allocate(capacity: count)
    emailOffsets[0] = 0
    end = 0
    for person in 0..<count {
      nameOfPerson[person] = UInt32.random(in: 0..<UInt32(Self.nameCount), using: &random)
      ages[person] = UInt8.random(in: 0..<100, using: &random)
      scores[person] = Double.random(in: 0..<1000, using: &random)
      actives[person] = Bool.random(using: &random)
      end += Self.fill(emailHeap + end, letters: Int.random(in: 10...14, using: &random), &random)
      for byte in Self.domain {
        emailHeap[end] = byte
        end += 1
      }
      emailOffsets[person + 1] = UInt32(end)
    }
  }

  deinit {
    nameHeap.deallocate()
    nameOfPerson.deallocate()
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
    let name = Int(nameOfPerson[row])
    let start = Int(nameOffsets[name])
    return UnsafeRawBufferPointer(
      start: nameHeap + start, count: Int(nameOffsets[name + 1]) - start)
  }

  /// How many people have an age in `range`.
  func count(ofAgesIn range: Range<Int64>) -> Int {
    (0..<count).count { range.contains(Int64(ages[$0])) }
  }

  /// The sum of all scores, added up in key order.
  var scoreSum: Double {
    (0..<count).reduce(0) { $0 + scores[$1] }
  }

  private func email(of row: Int) -> UnsafeRawBufferPointer {
    let start = Int(emailOffsets[row])
    return UnsafeRawBufferPointer(
      start: emailHeap + start, count: Int(emailOffsets[row + 1]) - start)
  }

  private static func fill(
    _ target: UnsafeMutablePointer<UInt8>, letters count: Int, _ random: inout RandomBits
  ) -> Int {
    for index in 0..<count {
      target[index] = UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z"), using: &random)
    }
    return count
  }
}
