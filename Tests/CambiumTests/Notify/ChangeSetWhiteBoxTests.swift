import CambiumCore
import TestSupport
import Testing

@testable import Cambium

/// Change sets and edits by position, against arrays that are changed beside them.
@Suite struct ChangeSetWhiteBoxTests {
  /// An element of a list: which it is, and how often it was assigned.
  private struct Element: Equatable {
    var id: Int
    var assignments = 0
  }

  /// Edits `elements` at random, and says so to `edits`.
  private func edit(
    _ elements: inout [Element], _ edits: inout PositionalEdits, _ id: inout Int,
    _ random: inout SeededGenerator
  ) {
    let count = elements.count
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1:
      let place = Int.random(in: 0...count, using: &random)
      let new = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        id += 1
        return Element(id: id)
      }
      elements.insert(contentsOf: new, at: place)
      edits.insert(new.count, at: place)
    case 2:
      let first = Int.random(in: 0...count, using: &random)
      let range = first..<min(count, first + Int.random(in: 0...3, using: &random))
      elements.removeSubrange(range)
      edits.remove(range)
    case 3 where count > 0:
      let place = Int.random(in: 0..<count, using: &random)
      elements[place].assignments += 1
      edits.assign(place)
    case 4 where count > 0:
      let from = Int.random(in: 0..<count, using: &random)
      let to = Int.random(in: 0..<count, using: &random)
      id += 1
      elements.remove(at: from)
      // An element that moves is another one to who watches positions.
      elements.insert(Element(id: id), at: to)
      edits.remove(from..<from + 1)
      edits.insert(1, at: to)
    default: break
    }
  }

  @Test(arguments: 0..<64) func `edits say which elements stayed, and where`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var id = 8
    let old = (0..<Int.random(in: 0...8, using: &random)).map { Element(id: -$0) }
    var elements = old
    var all = PositionalEdits()
    for _ in 0..<4 {
      // A transaction's edits, which are put behind those before.
      var edits = PositionalEdits()
      for _ in 0..<Int.random(in: 0..<6, using: &random) { edit(&elements, &edits, &id, &random) }
      all.append(edits)
      var kept: [(Int, Int)] = []
      all.forEachKept(oldCount: old.count) { kept += zip($0, $1) }
      let expected = elements.enumerated().compactMap { new, element in
        old.firstIndex { $0.id == element.id }.map { ($0, new) }
      }
      #expect(kept.map(\.0) == expected.map(\.0), "seed \(seed)")
      #expect(kept.map(\.1) == expected.map(\.1), "seed \(seed)")
      for (before, after) in kept {
        #expect(all.assigned.contains(before) == (elements[after].assignments > 0), "seed \(seed)")
      }
    }
  }

  @Test func `too many edits of a list are not known any more, until it is rewritten`() throws {
    var edits = PositionalEdits()
    for place in 0..<PositionalEdits.largestRunCount { edits.insert(1, at: 2 * place) }
    #expect(edits.isLost && !edits.isEmpty)
    var later = PositionalEdits()
    later.append(edits)
    #expect(later.isLost)
    var bytes: [UInt8] = []
    later.put(to: &bytes)
    var reader = ByteReader(bytes)
    #expect(PositionalEdits(from: &reader) == later && reader.isAtEnd)
    later.rewrite()
    edits.append(later)
    #expect(edits.isRewritten && !edits.isLost)
  }

  @Test(arguments: 0..<64) func `a change set makes the new order of the old one`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let mayRepeat = seed % 2 == 0
    func keys() -> [Int64] {
      let count = Int.random(in: 0...12, using: &random)
      let keys = (0..<count).map { _ in Int64.random(in: 0..<14, using: &random) }
      return mayRepeat ? keys : Array(Set(keys)).shuffled(using: &random)
    }
    let (old, new) = (keys(), keys())
    let modified = Set(old.filter { _ in Bool.random(using: &random) })
    let replaced = Set(old.filter { _ in Int.random(in: 0..<5, using: &random) == 0 })
    let changes = ChangeSet(
      from: old, to: new, isReplaced: { replaced.contains($0) },
      isTouched: { modified.contains($0) }, isModified: { modified.contains($0) })
    var list = old
    for place in changes.deletions.reversed() { list.remove(at: place) }
    for place in changes.insertions { list.insert(new[place], at: place) }
    #expect(list == new, "seed \(seed)")
    #expect(changes.deletions == changes.deletions.sorted())
    #expect(changes.insertions == changes.insertions.sorted())
    let gone = Set(changes.deletions)
    for (place, key) in old.enumerated() {
      if replaced.contains(key) { #expect(gone.contains(place), "seed \(seed)") }
      #expect(
        changes.modifications.contains(place) == (modified.contains(key) && !gone.contains(place)),
        "seed \(seed)")
    }
  }

  @Test func `of elements whose order differs the modified one has moved`() {
    for modified in [Int64(1), 2] {
      let changes = ChangeSet(
        from: [1, 2], to: [2, 1], isTouched: { $0 == modified }, isModified: { $0 == modified })
      #expect(changes.deletions == [modified == 1 ? 0 : 1])
      #expect(changes.insertions == [modified == 1 ? 1 : 0])
      #expect(changes.modifications == [])
    }
  }

  @Test func `no more elements move than have to`() {
    let changes = ChangeSet(from: [1, 2, 3, 4, 5, 6], to: [6, 1, 2, 3, 4, 5]) { _ in false }
    #expect(changes == ChangeSet(deletions: [5], insertions: [0]))
  }
}
