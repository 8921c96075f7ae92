import Cambium
import GRDB

extension Work {
  /// How many of the people are created from dictionaries, or come again.
  private static func share(_ population: Population) -> Int { population.people.count / 5 }

  private static func key(_ number: Int) -> String {
    "account-\(UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15)"
  }

  static let creating: [Work] = [
    Work(
      name: "create a million typed objects, one transaction", unit: .seconds, writes: true,
      wanted: 0.5,
      realm: 1.61, engine: ("W1", "insert in key order, sync inside"),
      overRealm: { side in
        try .measure {
          try side.realm.write {
            for data in side.population.people {
              let person = Census.Person()
              person.id = data.id
              person.name = data.name
              person.age = data.age
              person.email = data.email
              person.score = data.score
              person.active = data.active
              side.realm.add(person)
            }
          }
          return side.people.count
        }
      },
      overSQLite: { side in
        try .measure {
          try side.pool.write { database in
            for data in side.population.people { try SQLiteCensus.Person(data).insert(database) }
            return try SQLiteCensus.Person.fetchCount(database)
          }
        }
      }),
    Work(
      name: "create from dictionaries, each", unit: .microseconds, writes: true, wanted: 1.5,
      overRealm: { side in
        let count = share(side.population)
        return try .measure(count) {
          try side.realm.write {
            for data in side.population.people[..<count] {
              side.realm.create(
                Census.Account.self,
                value: ["key": key(data.id), "name": data.name, "age": data.age])
            }
          }
          return side.realm.objects(Census.Account.self).count
        }
      },
      overSQLite: { side in
        let count = share(side.population)
        return try .measure(count) {
          try side.pool.write { database in
            for data in side.population.people[..<count] {
              try SQLiteCensus.Account(key: key(data.id), name: data.name, age: data.age)
                .insert(database)
            }
            return try SQLiteCensus.Account.fetchCount(database)
          }
        }
      }),
    Work(
      name: "upsert from dictionaries, text key, random order, half new, each", unit: .microseconds,
      writes: true,
      wanted: 3,
      overRealm: { side in
        let count = share(side.population)
        let people = side.population.shuffled.filter { $0 < 2 * count }.prefix(count)
        return try .measure(people.count) {
          try side.realm.write {
            for index in people {
              let data = side.population.people[index]
              side.realm.create(
                Census.Account.self,
                value: ["key": key(index), "name": data.email, "age": data.age + 1],
                update: .modified)
            }
          }
          return side.realm.objects(Census.Account.self).count
        }
      },
      overSQLite: { side in
        let count = share(side.population)
        let people = side.population.shuffled.filter { $0 < 2 * count }.prefix(count)
        return try .measure(people.count) {
          try side.pool.write { database in
            for index in people {
              let data = side.population.people[index]
              try SQLiteCensus.Account(key: key(index), name: data.email, age: data.age + 1)
                .upsert(database)
            }
            return try SQLiteCensus.Account.fetchCount(database)
          }
        }
      }),
  ]
}
