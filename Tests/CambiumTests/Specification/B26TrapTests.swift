import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// Section B26: each misuse stops the process with the documented text.
@Suite struct B26TrapTests {
  init() { TemporaryFolder.prepareForChildren() }

  @Test(arguments: SpecTrap.all)
  func `misuse stops with its documented text`(trap: SpecTrap) async throws {
    let name = trap.name
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [name = name as String] in
      try SpecTrap.all.first { $0.name == name }?.body()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains(trap.message), "\(text.prefix(600))")
  }
}

struct SpecTrap: Sendable, CustomTestStringConvertible {
  let name: String
  let message: String
  let body: @Sendable () throws -> Void

  init(_ name: String, _ message: String, _ body: @escaping @Sendable () throws -> Void) {
    self.name = name
    self.message = message
    self.body = body
  }

  var testDescription: String { name }

  static let all =
    confinement + transactions + objects + collections + queries + declarations
    + migrations + links + instances + notifications + sets + embedded + maps + anyValues + sections
}

extension SpecTrap {
  static let wrongThread = "Realm accessed from incorrect thread."

  /// Runs `body` on another thread with something that belongs to this one.
  static func elsewhere<Value>(_ value: Value, _ body: @escaping (Value) throws -> Void)
    throws
  {
    let smuggled = Smuggled(value: (value, body))
    try onAnotherThread { try smuggled.value.1(smuggled.value.0) }
  }

  static func ann() throws -> (Realm, SpecPerson) {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    person.dogs.append(SpecDog())
    person.nicknames.append("A")
    try realm.write { realm.add(person) }
    return (realm, person)
  }
}
