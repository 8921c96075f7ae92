import Cambium
import Foundation

/// Something that is measured; gives how many operations it made and how long they took.
struct Operation: Sendable {
  let name: String
  var isReading = false
  var needsObjects = true
  /// The stores over which it is measured.
  var stores: [World.Store] = [.memory]
  let measure: @Sendable (World, Int) throws -> (count: Int, duration: Duration)

  static let all = reading + walking + writing + contexts + smallWrites + observing + collections

  /// Keeps the optimiser from dropping what nobody uses.
  @inline(never) static func use<Value>(_ value: Value) {}

  /// Runs `body` on a person of the middle, again and again.
  private static func perPerson(
    _ name: String, _ body: @escaping @Sendable (Person, Int) -> Void
  ) -> Operation {
    Operation(name: name, isReading: true) { world, repetitions in
      let people = world.realm.objects(Person.self)
      let person = people[world.objects / 2 & ~3]
      let clock = ContinuousClock()
      return (repetitions, clock.measure { body(person, repetitions) })
    }
  }

  private static let reading = [
    perPerson("read Int") { person, count in
      var sum = 0
      for _ in 0..<count { sum &+= person.age }
      use(sum)
    },
    perPerson("read Double") { person, count in
      var sum = 0.0
      for _ in 0..<count { sum += person.score }
      use(sum)
    },
    perPerson("read String") { person, count in
      var sum = 0
      for _ in 0..<count { sum &+= person.name.utf8.count }
      use(sum)
    },
    perPerson("read String?") { person, count in
      var sum = 0
      for _ in 0..<count { sum &+= person.note?.utf8.count ?? 0 }
      use(sum)
    },
    perPerson("read Date") { person, count in
      var sum = 0.0
      for _ in 0..<count { sum += person.born.timeIntervalSinceReferenceDate }
      use(sum)
    },
    perPerson("read link") { person, count in
      var sum = 0
      for _ in 0..<count { sum &+= person.home?.id ?? 0 }
      use(sum)
    },
    perPerson("read unmanaged Int") { person, count in
      let person = Person.make(4, [City()])
      var sum = 0
      for _ in 0..<count { sum &+= person.age }
      use(sum)
    },
  ]

  private static let walking = [
    Operation(name: "iterate, nothing read", isReading: true) { world, _ in
      let people = world.realm.objects(Person.self)
      var count = 0
      let duration = ContinuousClock().measure { for _ in people { count += 1 } }
      return (count, duration)
    },
    Operation(name: "iterate, two properties read", isReading: true) { world, _ in
      let people = world.realm.objects(Person.self)
      var (count, sum) = (0, 0.0)
      let duration = ContinuousClock().measure {
        for person in people {
          count += 1
          sum += Double(person.age) + person.score
        }
      }
      use(sum)
      return (count, duration)
    },
    Operation(name: "iterate a query's results", isReading: true) { world, _ in
      let people = world.realm.objects(Person.self).where { $0.age < 60 }
      use(people.count)
      var (count, sum) = (0, 0.0)
      let duration = ContinuousClock().measure {
        for person in people {
          count += 1
          sum += Double(person.age) + person.score
        }
      }
      use(sum)
      return (count, duration)
    },
    Operation(name: "object by primary key", isReading: true) { world, _ in
      var sum = 0
      let duration = ContinuousClock().measure {
        for index in 0..<world.objects {
          let key = index &* 7919 % world.objects
          sum &+= world.realm.object(ofType: Person.self, forPrimaryKey: key)?.age ?? 0
        }
      }
      use(sum)
      return (world.objects, duration)
    },
    Operation(name: "object by index", isReading: true) { world, _ in
      let people = world.realm.objects(Person.self)
      var sum = 0
      let duration = ContinuousClock().measure {
        for index in 0..<world.objects { sum &+= people[index &* 7919 % world.objects].age }
      }
      use(sum)
      return (world.objects, duration)
    },
    Operation(name: "count in a range, per object", isReading: true) { world, _ in
      var sum = 0
      let duration = ContinuousClock().measure {
        for limit in 0..<100 {
          sum &+=
            world.realm.objects(Person.self).where { $0.age >= limit && $0.age < limit + 10 }.count
        }
      }
      use(sum)
      return (100 * world.objects, duration)
    },
    Operation(name: "count where, per object", isReading: true) { world, _ in
      var sum = 0
      let duration = ContinuousClock().measure {
        for limit in 0..<10 {
          sum &+= world.realm.objects(Person.self).where { $0.age < limit && $0.score > 10 }.count
        }
      }
      use(sum)
      return (10 * world.objects, duration)
    },
  ]

  private static let writing = [
    Operation(name: "write Int") { world, repetitions in
      let people = world.realm.objects(Person.self)
      let person = people[world.objects / 2]
      let count = repetitions / 4 + 1
      let duration = try ContinuousClock().measure {
        try world.realm.write { for index in 0..<count { person.age = index } }
      }
      return (count, duration)
    },
    Operation(name: "write Int of every object", stores: [.memory, .file]) { world, _ in
      let people = Array(world.realm.objects(Person.self))
      let duration = try ContinuousClock().measure {
        try world.realm.write { for person in people { person.age += 1 } }
      }
      return (people.count, duration)
    },
    Operation(name: "read, change and read again, in a loop") { world, _ in
      let people = world.realm.objects(Person.self).where { $0.age < 60 }
      var (count, sum) = (0, 0.0)
      let duration = try ContinuousClock().measure {
        try world.realm.write {
          for person in people {
            person.score += Double(person.age)
            sum += person.score
            count += 1
          }
        }
      }
      use(sum)
      return (count, duration)
    },
    Operation(name: "count live results after each change") { world, _ in
      let adults = world.realm.objects(Person.self).where { $0.age >= 18 }
      var sum = 0
      let duration = try ContinuousClock().measure {
        try world.realm.write {
          for person in world.realm.objects(Person.self) {
            person.score += 1
            sum &+= adults.count
          }
        }
      }
      use(sum)
      return (world.objects, duration)
    },
    Operation(name: "delete while iterating") { world, _ in
      let people = world.realm.objects(Person.self).where { $0.age < 48 }
      var count = 0
      let duration = try ContinuousClock().measure {
        try world.realm.write {
          for person in people {
            world.realm.delete(person)
            count += 1
          }
        }
      }
      return (count, duration)
    },
    Operation(name: "setValue(Int) of all results") { world, _ in
      let people = world.realm.objects(Person.self)
      let duration = try ContinuousClock().measure {
        try world.realm.write { people.setValue(50, forKey: "age") }
      }
      return (world.objects, duration)
    },
    Operation(name: "setValue(String?) of all results") { world, _ in
      let people = world.realm.objects(Person.self)
      let duration = try ContinuousClock().measure {
        try world.realm.write { people.setValue("a note", forKey: "note") }
      }
      return (world.objects, duration)
    },
    Operation(name: "add", needsObjects: false) { world, _ in
      let people = world.people()
      let duration = try ContinuousClock().measure {
        try world.realm.write { world.realm.add(people) }
      }
      return (people.count, duration)
    },
    Operation(name: "create from dictionaries", needsObjects: false) { world, _ in
      let duration = try ContinuousClock().measure {
        try world.realm.write {
          for id in 0..<world.objects {
            let value: [String: Any] = ["id": id, "name": "Name \(id)", "age": id & 63]
            world.realm.create(Person.self, value: value)
          }
        }
      }
      return (world.objects, duration)
    },
    Operation(name: "delete results") { world, _ in
      let people = world.realm.objects(Person.self).where { $0.age >= 0 }
      let duration = try ContinuousClock().measure {
        try world.realm.write { world.realm.delete(people) }
      }
      return (world.objects, duration)
    },
    Operation(name: "delete half of the objects") { world, _ in
      let people = world.realm.objects(Person.self).where { $0.age < 48 }
      let count = people.count
      let duration = try ContinuousClock().measure {
        try world.realm.write { world.realm.delete(people) }
      }
      return (count, duration)
    },
    Operation(name: "delete all") { world, _ in
      let duration = try ContinuousClock().measure {
        try world.realm.write { world.realm.deleteAll() }
      }
      return (world.objects, duration)
    },
  ]
}
