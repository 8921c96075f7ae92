import Cambium
import GRDB

extension Work {
  private typealias Row = SQLiteCensus.Person

  static let changing: [Work] = [
    Work(
      name: "change a property of every object in a loop, each", unit: .microseconds, writes: true,
      wanted: 0.16,
      realm: 0.10,
      overRealm: { side in
        try .measure(side.population.people.count) {
          try side.realm.write { for person in side.people { person.age += 1 } }
          return side.population.people.count
        }
      },
      overSQLite: { side in
        try .measure(side.population.people.count) {
          try side.pool.write { database in
            let statement = try database.cachedStatement(
              sql: "UPDATE person SET age = ? WHERE id = ?")
            let people = try Row.fetchAll(database)
            for person in people {
              statement.setUncheckedArguments([person.age + 1, person.id])
              try statement.execute()
            }
            return people.count
          }
        }
      }),
    Work(
      name: "setValue(_:forKey:) on all results", unit: .milliseconds, writes: true, wanted: 40,
      engine: ("W8", "update one Int of every row"),
      overRealm: { side in
        try .measure {
          try side.realm.write { side.people.setValue(20, forKey: "age") }
          return side.population.people.count
        }
      },
      overSQLite: { side in
        try .measure {
          try side.pool.write { try Row.updateAll($0, Column("age").set(to: 20)) }
        }
      }),
    Work(
      name: "read a property of a class touched in the transaction, each", unit: .nanoseconds,
      wanted: 20,
      overRealm: { side in
        side.realm.beginWrite()
        defer { side.realm.cancelWrite() }
        let people = Array(side.people.prefix(1000))
        people[0].age = 21
        return .measure(1_000_000) {
          var sum = 0
          for _ in 0..<1000 { for person in people { sum &+= person.age } }
          return sum
        }
      }),
    Work(
      name: "one property changed and committed, file", unit: .microseconds, writes: true,
      wanted: nil,
      engine: ("W2", "update one row, durable"),
      overRealm: { side in
        let person = side.people[side.population.people.count / 2]
        return try .measure(200) {
          for number in 0..<200 { try side.realm.write { person.age = number } }
          return person.age
        }
      },
      overSQLite: { side in
        let id = side.population.people.count / 2
        return try .measure(200) {
          for number in 0..<200 {
            _ = try side.pool.write {
              try Row.filter(key: id).updateAll($0, Column("age").set(to: number))
            }
          }
          return try side.pool.read { try Row.fetchOne($0, key: id)?.age ?? 0 }
        }
      }),
    Work(
      name: "one property changed and committed, memory", unit: .microseconds, writes: true,
      wanted: 8,
      overRealm: { side in
        guard let person = side.memory.objects(Census.Person.self).first else {
          return Timing(seconds: 0, answer: 0)
        }
        return try .measure(2000) {
          for number in 0..<2000 { try side.memory.write { person.age = number } }
          return person.age
        }
      }),
  ]
}
