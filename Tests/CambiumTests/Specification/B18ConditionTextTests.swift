import Cambium
import Testing

/// Section B18: the predicates that typed conditions make.
@Suite struct B18ConditionTextTests {
  private func text<T: Object>(_ type: T.Type, _ condition: SpecCondition<T>) -> String {
    condition(Query<T>._constructForTesting())._constructPredicate().0
  }

  @Test func `typed conditions have the documented text`() {
    func values(_ condition: SpecCondition<SpecValues>) -> String {
      text(SpecValues.self, condition)
    }
    func person(_ condition: SpecCondition<SpecPerson>) -> String {
      text(SpecPerson.self, condition)
    }
    #expect(values { $0.int == 5 } == "(int == %@)")
    #expect(values { $0.label == $0.string } == "(label == string)")
    #expect(values { $0.stringO == nil } == "(stringO == %@)")
    #expect(values { $0.bool } == "bool == true")
    #expect(values { !$0.bool } == "bool == false")
    #expect(values { $0.bool && $0.int > 1 } == "(bool == true && (int > %@))")
    #expect(values { $0.int < 1 || $0.int != 2 } == "((int < %@) || (int != %@))")
    #expect(values { !($0.int == 1) } == "NOT (int == %@)")
    #expect(values { $0.int.contains(1...5) } == "(int BETWEEN {%@, %@})")
    #expect(values { $0.int.contains(1..<5) } == "((int >= %@) && (int < %@))")
    #expect(values { $0.int.in([1, 2]) } == "(int IN %@)")
    #expect(
      values { $0.string.contains("x", options: [.caseInsensitive, .diacriticInsensitive]) }
        == "(string CONTAINS[cd] %@)")
    #expect(values { $0.string.starts(with: "x") } == "(string BEGINSWITH %@)")
    #expect(
      values { $0.string.ends(with: "x", options: .caseInsensitive) } == "(string ENDSWITH[c] %@)")
    #expect(values { $0.string.like("x*", caseInsensitive: true) } == "(string LIKE[c] %@)")
    #expect(values { $0.string.equals("x", options: .diacriticInsensitive) } == "(string ==[d] %@)")
    #expect(values { $0.string.notEquals("x", options: .caseInsensitive) } == "(string !=[c] %@)")
    #expect(person { $0.favorite.name == "x" } == "(favorite.name == %@)")
    #expect(person { $0.dogs.name == "x" } == "(ANY dogs.name == %@)")
    #expect(values { $0.ints.contains(5) } == "(%@ IN ints)")
    #expect(values { $0.ints.containsAny(in: [1, 2]) } == "(ANY ints IN %@)")
    #expect(values { $0.ints.contains(1...5) } == "((ints.@min >= %@) && (ints.@max <= %@))")
    #expect(values { $0.ints.count > 1 } == "(ints.@count > %@)")
    #expect(values { $0.ints.min == 1 } == "(ints.@min == %@)")
    #expect(values { $0.ints.sum == 1 } == "(ints.@sum == %@)")
    #expect(person { $0.dogs.age.min == 1 } == "(dogs.@min.age == %@)")
    #expect(
      person { ($0.dogs.age > 3 && $0.dogs.name == "x").count >= 1 }
        == "(SUBQUERY(dogs, $col1, (($col1.age > %@) && ($col1.name == %@))).@count >= %@)")
    #expect(values { $0.level.rawValue > 3 } == "(level > %@)")
    #expect(values { $0.color.persistableValue == "red" } == "(color == %@)")
  }
}
