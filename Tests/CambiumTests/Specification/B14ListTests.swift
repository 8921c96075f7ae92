import Cambium
import Foundation
import Testing

/// Section B14: lists, managed and unmanaged alike.
@Suite struct B14ListTests {
  enum Kind: CaseIterable, Sendable { case managed, unmanaged }

  private func withList(
    _ kind: Kind, _ start: [Int] = [0, 1, 2, 3, 4], _ body: (List<Int>) throws -> Void
  ) throws {
    let object = SpecValues()
    object.ints.append(objectsIn: start)
    switch kind {
    case .unmanaged: try body(object.ints)
    case .managed:
      let realm = try specRealm()
      try realm.write {
        realm.add(object)
        try body(object.ints)
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `elements are appended, inserted, replaced and removed`(kind: Kind) throws {
    try withList(kind, []) { list in
      list.append(1)
      list.append(objectsIn: [2, 3])
      list.insert(0, at: 0)
      list.insert(9, at: 4)
      list.insert(contentsOf: [7, 8], at: 4)
      #expect(Array(list) == [0, 1, 2, 3, 7, 8, 9])
      list.remove(at: 3)
      list.replace(index: 0, object: 10)
      list[1] = 11
      #expect(Array(list) == [10, 11, 2, 7, 8, 9])
      list.removeFirst()
      list.removeLast()
      list.removeFirst(2)
      #expect(Array(list) == [7, 8])
      list.removeLast(2)
      list.removeFirst(0)
      #expect(list.isEmpty)
      list.append(objectsIn: [5, 5, 5])
      list.removeAll()
      #expect(list.count == 0 && list.first == nil && list.last == nil)
    }
  }

  @Test(arguments: Kind.allCases)
  func `ranges are replaced and removed`(kind: Kind) throws {
    try withList(kind) { list in
      list.replaceSubrange(1..<3, with: [10, 11, 12])
      #expect(Array(list) == [0, 10, 11, 12, 3, 4])
      list.replaceSubrange(0...0, with: [])
      list.removeSubrange(1...2)
      #expect(Array(list) == [10, 3, 4])
      list.removeSubrange(1...)
      #expect(Array(list) == [10])
      list.replaceSubrange(1..<1, with: [1, 2])
      #expect(Array(list) == [10, 1, 2])
      list[0..<2] = list[1..<3]
      #expect(Array(list) == [1, 2, 2])
    }
  }

  @Test(arguments: Kind.allCases)
  func `elements move and swap`(kind: Kind) throws {
    try withList(kind) { list in
      list.move(from: 0, to: 3)
      #expect(Array(list) == [1, 2, 3, 0, 4])
      list.move(from: 4, to: 0)
      #expect(Array(list) == [4, 1, 2, 3, 0])
      list.move(from: 2, to: 2)
      list.swapAt(0, 4)
      list.swapAt(1, 1)
      #expect(Array(list) == [0, 1, 2, 3, 4])
      list.move(fromOffsets: IndexSet(integer: 0), toOffset: 3)
      #expect(Array(list) == [1, 2, 0, 3, 4])
      list.move(fromOffsets: IndexSet(integer: 4), toOffset: 0)
      #expect(Array(list) == [4, 1, 2, 0, 3])
      list.remove(atOffsets: IndexSet([0, 2, 4]))
      #expect(Array(list) == [1, 0])
    }
  }

  @Test(arguments: Kind.allCases)
  func `a list is a random access collection`(kind: Kind) throws {
    try withList(kind) { list in
      #expect(list.count == 5 && list.first == 0 && list.last == 4)
      #expect(list.index(of: 3) == 3 && list.index(of: 9) == nil)
      #expect(list.contains(2) && list.reversed().first == 4)
      #expect(Array(list[1..<3]) == [1, 2])
      #expect(list.map { $0 * 2 } as [Int] == [0, 2, 4, 6, 8])
      #expect(Array(list.filter { $0 > 2 }) == [3, 4])
      #expect(list.objects(at: IndexSet([1, 3])) == [1, 3])
      #expect(list.min() == 0 && list.max() == 4 && list.sum() == 10)
      #expect(list.average() == 2.0)
      #expect(Array(list.enumerated()).map(\.offset) == [0, 1, 2, 3, 4])
      #expect(list.startIndex == 0 && list.endIndex == 5)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a list follows a model through many random edits`(kind: Kind) throws {
    var generator = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0..<1_000_000, using: &generator)
    var state = seed
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % Swift.max(bound, 1)
    }
    try withList(kind, []) { list in
      var model: [Int] = []
      for step in 0..<1500 {
        switch next(9) {
        case 0, 1, 2:
          list.append(step)
          model.append(step)
        case 3:
          let index = next(model.count + 1)
          list.insert(step, at: index)
          model.insert(step, at: index)
        case 4 where !model.isEmpty:
          let index = next(model.count)
          list.remove(at: index)
          model.remove(at: index)
        case 5 where !model.isEmpty:
          let index = next(model.count)
          list[index] = -step
          model[index] = -step
        case 6 where !model.isEmpty:
          let from = next(model.count)
          let to = next(model.count)
          list.move(from: from, to: to)
          let element = model.remove(at: from)
          model.insert(element, at: to)
        case 7 where !model.isEmpty:
          let first = next(model.count)
          let second = next(model.count)
          list.swapAt(first, second)
          model.swapAt(first, second)
        case 8 where !model.isEmpty:
          let low = next(model.count)
          let high = Swift.min(model.count, low + next(4))
          let new = (0..<next(5)).map { step * 10 + $0 }
          list.replaceSubrange(low..<high, with: new)
          model.replaceSubrange(low..<high, with: new)
        default: break
        }
      }
      #expect(Array(list) == model, "seed \(seed)")
    }
  }

  @Test func `large lists of objects and of text keep their order`() throws {
    let realm = try specRealm()
    let object = SpecValues()
    try realm.write {
      realm.add(object)
      for index in 0..<3000 {
        object.strings.append("value \(index)")
        object.others.append(object)
      }
      object.strings.remove(at: 1500)
    }
    #expect(object.strings.count == 2999 && object.others.count == 3000)
    #expect(object.strings[1499] == "value 1499" && object.strings[1500] == "value 1501")
    try realm.write { object.strings.removeSubrange(10..<2990) }
    #expect(object.strings.count == 19)
    realm.beginWrite()
    object.strings.removeAll()
    realm.cancelWrite()
    #expect(object.strings.last == "value 2999")
  }

  @Test func `assigning a list replaces the contents in place`() throws {
    let realm = try specRealm()
    let one = SpecValues()
    let two = SpecValues()
    one.ints.append(objectsIn: [1, 2])
    two.ints.append(objectsIn: [3])
    try realm.write { realm.add([one, two]) }
    let list = one.ints
    try realm.write { one.ints = two.ints }
    #expect(one.ints === list)
    #expect(Array(list) == [3])
    try realm.write { one.ints = one.ints }
    #expect(Array(list) == [3])
    let plain = List<Int>()
    plain.append(objectsIn: [7, 8])
    try realm.write { one.ints = plain }
    #expect(Array(list) == [7, 8] && Array(two.ints) == [3])
    try realm.write { one.ints.append(objectsIn: one.ints) }
    #expect(Array(list) == [7, 8, 7, 8])
  }

  @Test func `a list property is the same instance for each read of one accessor`() throws {
    let realm = try specRealm()
    let object = SpecValues()
    #expect(object.ints === object.ints)
    try realm.write { realm.add(object) }
    #expect(object.ints === object.ints)
    let twin = try #require(realm.objects(SpecValues.self).first)
    #expect(twin.ints == object.ints)
    #expect(twin.ints !== object.ints)
  }

  @Test func `managed lists query, sort and stay live`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    for name in ["c", "a", "b", "a"] { person.dogs.append(SpecDog(value: ["name": name])) }
    try realm.write { realm.add(person) }
    let query = person.dogs.where { $0.name != "b" }
    #expect(query.map(\.name) == ["c", "a", "a"])
    #expect(person.dogs.sorted(by: \.name).map(\.name) == ["a", "a", "b", "c"])
    #expect(person.dogs.distinct(by: ["name"]).map(\.name) == ["c", "a", "b"])
    #expect(person.dogs.index(matching: "name == 'b'") == 2)
    #expect(person.dogs.index(matching: { $0.name == "x" }) == nil)
    try realm.write {
      person.dogs.append(person.dogs[0])
      person.dogs.remove(at: 1)
    }
    #expect(query.map(\.name) == ["c", "a", "c"])
    #expect(person.dogs.index(of: person.dogs[2]) == 2)
  }

  @Test func `scalar lists sort, distinct and aggregate on themselves`() throws {
    let realm = try specRealm()
    let object = SpecValues()
    object.ints.append(objectsIn: [3, 1, 2, 3])
    object.intsO.append(objectsIn: [5, nil, 1])
    object.strings.append(objectsIn: ["b", "a", "b"])
    try realm.write { realm.add(object) }
    #expect(Array(object.ints.sorted()) == [1, 2, 3, 3])
    #expect(Array(object.ints.sorted(ascending: false)) == [3, 3, 2, 1])
    #expect(Array(object.ints.distinct()) == [3, 1, 2])
    #expect(Array(object.intsO.sorted()) == [nil, 1, 5])
    #expect(Array(object.strings.distinct().sorted()) == ["a", "b"])
    #expect(object.intsO.sum() == 6 && object.intsO.min() == 1 && object.intsO.max() == 5)
    #expect(object.intsO.average() == 3.0)
    #expect(object.ints.max(ofProperty: "self") == 3 as Int?)
  }

  @Test func `lists compare by contents when unmanaged and by place when managed`() throws {
    let realm = try specRealm()
    let one = List<Int>()
    let two = List<Int>()
    one.append(objectsIn: [1, 2])
    #expect(one != two)
    two.append(objectsIn: [1, 2])
    #expect(one == two)
    let object = SpecValues()
    let other = SpecValues()
    object.ints.append(objectsIn: [1, 2])
    other.ints.append(objectsIn: [1, 2])
    try realm.write { realm.add([object, other]) }
    #expect(object.ints == object.ints)
    #expect(object.ints != other.ints)
    #expect(object.ints != one)
  }

  @Test func `iterating a list inside a transaction walks a snapshot`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    for name in ["a", "b", "c"] { person.dogs.append(SpecDog(value: ["name": name])) }
    try realm.write { realm.add(person) }
    var visited = 0
    try realm.write {
      for dog in person.dogs {
        visited += 1
        person.dogs.removeFirst()
        realm.delete(dog)
      }
    }
    #expect(visited == 3)
    #expect(person.dogs.isEmpty && realm.objects(SpecDog.self).isEmpty)
  }

  @Test func `setting a key assigns it to all elements`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    person.dogs.append(objectsIn: [SpecDog(), SpecDog()])
    try realm.write { realm.add(person) }
    try realm.write { person.dogs.setValue(9, forKey: "age") }
    #expect(person.dogs.map(\.age) == [9, 9])
    try realm.write { realm.objects(SpecDog.self).setValue("x", forKey: "name") }
    #expect(realm.objects(SpecDog.self).value(forKey: "name") as? [String] == ["x", "x"])
  }
}
