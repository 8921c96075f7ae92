/// A person before any database has it.
struct PersonData: Sendable {
  var id: Int
  var name: String
  var age: Int
  var email: String
  var score: Double
  var active: Bool
}

/// A row to be sorted, before any database has it.
struct EntryData: Sendable {
  var group: Int
  var name: String?
}

/// How rows to be sorted lie.
enum EntryOrder: String, CaseIterable, Sendable {
  case unique = "random names"
  case prefixed = "names with a long common prefix"
  case tied = "ten rows of each pair"
  case sorted = "rows that are in order"
  case missing = "every third name missing"
}

/// Everything that a run puts into the databases; the same count gives the same people.
struct Population: Sendable {
  let people: [PersonData]
  /// The people's indices, in random order.
  let shuffled: [Int]

  init(count: Int) {
    var random = RandomBits(seed: 20)
    let names = (0..<100_000).map { _ in
      Self.letters(Int.random(in: 8...20, using: &random), &random)
    }
    people = (0..<count).map { id in
      PersonData(
        id: id, name: names[Int.random(in: 0..<names.count, using: &random)],
        age: Int.random(in: 0..<100, using: &random),
        email: Self.letters(Int.random(in: 10...14, using: &random), &random) + "@example.com",
        score: Double.random(in: 0..<1000, using: &random), active: Bool.random(using: &random))
    }
    shuffled = (0..<count).shuffled(using: &random)
  }

  /// As many rows as there are people, in groups of about ten thousand.
  func entries(_ order: EntryOrder) -> [EntryData] {
    let prefix = String(repeating: "a common beginning, ", count: 2)
    switch order {
    case .unique: return people.map { EntryData(group: $0.age, name: $0.name) }
    case .prefixed: return people.map { EntryData(group: $0.age, name: prefix + $0.name) }
    case .tied:
      return people.indices.map {
        let pair = people[shuffled[$0] / 10]
        return EntryData(group: pair.age, name: pair.name)
      }
    case .sorted:
      let keys = people.map { (group: $0.age, name: $0.name) }
      return keys.sorted { $0 < $1 }.map { EntryData(group: $0.group, name: $0.name) }
    case .missing:
      return people.map { EntryData(group: $0.age, name: $0.id % 3 == 0 ? nil : $0.name) }
    }
  }

  private static func letters(_ count: Int, _ random: inout RandomBits) -> String {
    String(
      decoding: (0..<count).map { _ in
        UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z"), using: &random)
      }, as: UTF8.self)
  }
}

/// A small, fast generator whose sequence follows from its seed (SplitMix64).
struct RandomBits: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
