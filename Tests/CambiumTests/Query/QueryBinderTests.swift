import Foundation
import Testing

@testable import Cambium

struct QueryBinderTests {
  private let world = QueryWorld()

  private func bind(_ text: String, _ arguments: Any?...) throws -> BoundPredicate {
    try world.binder().bind(
      PredicateParser.parse(text, arguments: arguments), to: world.storedClass("Person"))
  }

  @Test(arguments: [
    (
      "nothing == 1",
      "Invalid keypath 'nothing': Property 'nothing' not found in object of type 'Person'"
    ),
    (
      "dog.nothing == 1",
      "Invalid keypath 'dog.nothing': Property 'nothing' not found in object of type 'Dog'"
    ),
    (
      "age.value == 1",
      "Invalid keypath 'age.value': Property 'Person.age' is not a link or collection and can only "
        + "appear at the end of a keypath."
    ),
    (
      "dogs.name == 'a'",
      "Key paths that include a collection property must use aggregate operations"
    ),
    ("dogs == nil", "Key paths that include a collection property must use aggregate operations"),
    (
      "ANY age == 1",
      "Aggregate operations can only be used on key paths that include an collection property"
    ),
    (
      "age.@count == 1",
      "Invalid keypath 'age.@count': Property 'Person.age' is not a link or collection and can only "
        + "appear at the end of a keypath."
    ),
    ("age == 'a'", "Cannot compare value 'a' of type 'string' to property 'age' of type 'int'"),
    ("age == 1.0", "Cannot compare value '1.0' of type 'double' to property 'age' of type 'int'"),
    ("flag == 2", "Cannot compare value '2' of type 'int' to property 'flag' of type 'bool'"),
    ("name == 1", "Cannot compare value '1' of type 'int' to property 'name' of type 'string'"),
    (
      "dog.name == 1",
      "Cannot compare value '1' of type 'int' to property 'dog.name' of type 'string'"
    ),
    (
      "ratio == 1e300",
      "Cannot compare value '1e+300' of type 'double' to property 'ratio' of type 'float'"
    ),
    ("dog == 1", "Cannot compare value '1' of type 'int' to property 'dog' of type 'Dog'"),
    ("flag > true", "Operator '>' not supported for type 'bool'"),
    ("uuid > 'x'", "Operator '>' not supported for type 'uuid'"),
    ("oid BETWEEN {1, 2}", "Operator 'BETWEEN' not supported for type 'object id'"),
    ("age CONTAINS 'a'", "Operator 'CONTAINS' not supported for type 'int'"),
    ("dog > nil", "Operator '>' not supported for type 'object'"),
    ("'a' CONTAINS name", "Operator 'CONTAINS' requires a keypath on the left side."),
    ("5 BETWEEN age", "Operator 'BETWEEN' requires a keypath on the left side."),
    ("name <[c] 'a'", "Lexicographical comparisons must be case-sensitive"),
    ("name LIKE[d] 'a'", "Operator 'LIKE' not supported with diacritic-insensitive modifier."),
    ("age BETWEEN {1}", "NSArray object must contain exactly two objects for BETWEEN operations"),
    ("age BETWEEN 1", "NSArray object must contain exactly two objects for BETWEEN operations"),
    ("age IN 1", "IN clause requires an array of items"),
    ("age IN rank", "IN clause requires an array of items"),
    ("age == score", "Property type mismatch between int and double"),
    ("friend == dog", "Property type mismatch between Person and Dog"),
    ("ANY dogs.name == tags", "Comparing two collection columns is not permitted."),
    ("dogs.@count == 'a'", "@count can only be compared with a numeric value."),
    ("dogs.@min.name == 1", "Operator '@min' not supported for type 'string'"),
    ("admirers.@sum.born == 1", "Operator '@sum' not supported for type 'date'"),
    (
      "dogs.@min == 1",
      "Invalid keypath 'dogs.@min': '@min' on a collection of objects must be followed by one property."
    ),
    (
      "1 == 1",
      "Predicate expressions must compare a keypath and another keypath or a constant value"
    ),
    (
      "SUBQUERY(dogs, $d, $d.age > 1).@count > age",
      "SUBQUERY is only supported when immediately followed by .@count that is compared with a "
        + "constant number."
    ),
    (
      "SUBQUERY(dog, $d, $d.age > 1).@count > 1",
      "Subqueries must contain a keypath starting with a collection."
    ),
    ("$x.age == 1", "Unknown variable '$x'."),
    ("SUBQUERY(dogs, $d, $x.age > 1).@count > 1", "Unknown variable '$x'."),
    ("SUBQUERY(dogs, $d, $d.age > 1).@count > 1 AND $d.age == 1", "Unknown variable '$d'."),
    (
      "SUBQUERY(dogs, $d, $d.age > nothing).@count > 1",
      "Invalid keypath 'nothing': Property 'nothing' not found in object of type 'Person'"
    ),
    (
      "SUBQUERY(dogs, $d, $d.name == rank).@count > 1",
      "Property type mismatch between string and int"
    ),
    (
      "SUBQUERY(dogs, $d, $d.age > 'a').@count > 1",
      "Cannot compare value 'a' of type 'string' to property '$d.age' of type 'int'"
    ),
    (
      "SUBQUERY(dogs, $d, $d.name == tags).@count > 1",
      "Key paths that include a collection property must use aggregate operations"
    ),
    (
      "SUBQUERY(dogs, $d, ANY $d.keepers.name == tags).@count > 1",
      "Comparing two collection columns is not permitted."
    ),
  ])
  func `a predicate that does not fit is refused`(text: String, message: String) {
    let error = #expect(throws: QueryError.self) { try bind(text) }
    #expect(error?.message == message)
  }

  @Test func `objects must be of the right class and of the Realm`() throws {
    #expect(throws: QueryError.self) { try bind("dog == %@", ModelObject("Person", 1)) }
    let binder = QueryBinder(schema: world.schema) { _ throws(QueryError) in
      throw QueryError("Object must be from the Realm being queried")
    }
    let predicate = try PredicateParser.parse("dog == %@", arguments: [ModelObject("Dog", 1)])
    let error = #expect(throws: QueryError.self) {
      try binder.bind(predicate, to: world.storedClass("Person"))
    }
    #expect(error?.message == "Object must be from the Realm being queried")
  }

  @Test(arguments: [
    ("nothing", "property 'Person.nothing' does not exist."),
    ("dog", "property 'Person.dog' of type 'object' cannot be the final property in the key path."),
    (
      "age.name",
      "property 'Person.age' of type 'int' may only be the final property in the key path."
    ),
    ("dogs.name", "property 'Person.dogs' is of unsupported type 'array<Dog>'."),
    ("dogs.@count", "KVC collection operators are not supported."),
    ("dog.", "missing property name."), ("", "missing property name."),
  ])
  func `a sort that does not fit is refused`(path: String, reason: String) {
    let error = #expect(throws: QueryError.self) {
      try world.binder().bindSort([(path, true)], to: world.storedClass("Person"))
    }
    #expect(error?.message == "Cannot sort on key path '\(path)': \(reason)")
    let other = #expect(throws: QueryError.self) {
      try world.binder().bindDistinct([path], to: world.storedClass("Person"))
    }
    #expect(other?.message == "Cannot distinct on keypath '\(path)': \(reason)")
  }
}
