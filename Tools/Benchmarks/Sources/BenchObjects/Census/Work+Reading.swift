import Cambium
import GRDB

extension Work {
  private typealias Row = SQLiteCensus.Person

  private static let (id, name, age) = (Column("id"), Column("name"), Column("age"))
  private static let score = Column("score")

  /// Counts what a query finds, five times.
  private static func counting(
    _ query: @escaping @Sendable (RealmSide) -> Results<Census.Person>
  ) -> @Sendable (RealmSide) throws -> Timing {
    { side in .measure(5) { (0..<5).reduce(0) { sum, _ in sum + query(side).count } } }
  }

  private static func counting(
    _ request: QueryInterfaceRequest<SQLiteCensus.Person>
  ) -> @Sendable (SQLiteSide) throws -> Timing {
    { side in
      try .measure(5) {
        try side.pool.read { database in
          try (0..<5).reduce(0) { sum, _ in try sum + request.fetchCount(database) }
        }
      }
    }
  }

  static let reading: [Work] = [
    Work(
      name: "look up by primary key and read a text", unit: .microseconds, wanted: 0.4, realm: 1.9,
      engine: ("W3", "name by key, as a String"),
      overRealm: { side in
        let keys = side.population.shuffled
        return .measure(keys.count) {
          keys.reduce(0) {
            $0
              + (side.realm.object(ofType: Census.Person.self, forPrimaryKey: $1)?.name.utf8.count
                ?? 0)
          }
        }
      },
      overSQLite: { side in
        let keys = side.population.shuffled
        return try .measure(keys.count) {
          try side.pool.read { database in
            try keys.reduce(0) {
              try $0 + (Row.fetchOne(database, key: $1)?.name.utf8.count ?? 0)
            }
          }
        }
      }),
    Work(
      name: "count 30 ≤ age < 40", unit: .milliseconds, wanted: 0.4, realm: 13.7,
      engine: ("W4", "count 30 ≤ age < 40"),
      overRealm: counting { side in side.people.where { $0.age >= 30 && $0.age < 40 } },
      overSQLite: counting(Row.filter(age >= 30 && age < 40))),
    Work(
      name: "sum of a Double", unit: .milliseconds, wanted: 0.8, realm: 5.5,
      engine: ("W4", "sum of scores"),
      overRealm: { side in
        .measure(5) {
          (0..<5).reduce(0) { sum, _ in
            let total: Double = side.people.sum(of: \.score)
            return sum + Int(total)
          }
        }
      },
      overSQLite: { side in
        try .measure(5) {
          try side.pool.read { database in
            try (0..<5).reduce(0) { sum, _ in
              let total = try Row.select(GRDB.sum(score), as: Double.self).fetchOne(database)
              return sum + Int(total ?? 0)
            }
          }
        }
      }),
    Work(
      name: "count name == X, no index", unit: .milliseconds, wanted: 1.8, realm: 10.5,
      engine: ("W5", "count name == X, no index"),
      overRealm: counting { side in
        let wanted = side.population.people[side.population.people.count / 2].name
        return side.people.where { $0.name == wanted }
      },
      overSQLite: { side in
        let wanted = side.population.people[side.population.people.count / 2].name
        return try counting(Row.filter(name == wanted))(side)
      }),
    Work(
      name: "count name contains \"ab\"", unit: .milliseconds, wanted: 2.6, realm: 24.9,
      engine: ("W5", "count name contains \"ab\""),
      overRealm: counting { side in side.people.where { $0.name.contains("ab") } },
      overSQLite: counting(Row.filter(sql: "instr(name, 'ab') > 0"))),
    Work(
      name: "count name contains[c] \"AB\"", unit: .milliseconds, wanted: 12,
      overRealm: counting { side in
        side.people.where { $0.name.contains("AB", options: .caseInsensitive) }
      },
      overSQLite: counting(Row.filter(name.like("%AB%")))),
    Work(
      name: "iterate and read two properties, each", unit: .nanoseconds, wanted: 75, realm: 52,
      engine: ("W7", "read age and name of every row"),
      overRealm: { side in
        .measure(side.population.people.count) {
          var sum = 0
          for person in side.people { sum &+= person.age &+ Int(person.score) }
          return sum
        }
      },
      overSQLite: { side in
        try .measure(side.population.people.count) {
          try side.pool.read { database in
            var sum = 0
            let rows = try Row.fetchCursor(database)
            while let person = try rows.next() { sum &+= person.age &+ Int(person.score) }
            return sum
          }
        }
      }),
    Work(
      name: "isEmpty of a filter, one of a hundred matches", unit: .microseconds, wanted: 50,
      overRealm: { side in
        .measure(20) {
          (0..<20).reduce(0) { sum, _ in sum + (side.people.where { $0.age == 77 }.isEmpty ? 1 : 0)
          }
        }
      },
      overSQLite: { side in
        try .measure(20) {
          try side.pool.read { database in
            try (0..<20).reduce(0) { sum, _ in
              try sum + (Row.filter(age == 77).isEmpty(database) ? 1 : 0)
            }
          }
        }
      }),
    Work(
      name: "first of a filter, one of a hundred matches", unit: .microseconds, wanted: 50,
      overRealm: { side in
        .measure(20) {
          (0..<20).reduce(0) { sum, _ in sum + (side.people.where { $0.age == 77 }.first?.id ?? 0) }
        }
      },
      overSQLite: { side in
        try .measure(20) {
          try side.pool.read { database in
            try (0..<20).reduce(0) { sum, _ in
              try sum + (Row.filter(age == 77).order(id).fetchOne(database)?.id ?? 0)
            }
          }
        }
      }),
    Work(
      name: "prefix(100) of a filter, one of ten matches", unit: .microseconds, wanted: 50,
      overRealm: { side in
        .measure(20) {
          (0..<20).reduce(0) { sum, _ in
            side.people.where { $0.age >= 90 }.prefix(100).reduce(sum) { $0 + $1.id }
          }
        }
      },
      overSQLite: { side in
        try .measure(20) {
          try side.pool.read { database in
            try (0..<20).reduce(0) { sum, _ in
              try Row.filter(age >= 90).order(id).limit(100).fetchAll(database)
                .reduce(sum) { $0 + $1.id }
            }
          }
        }
      }),
  ]
}
