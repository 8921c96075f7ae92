import Cambium
import Foundation
import GRDB

extension Work {
  /// How many members a list has, and how many link to the first team.
  private static func members(_ population: Population) -> Int { population.people.count / 50 }

  private static func count(_ team: Int) -> @Sendable (RealmSide) throws -> Timing {
    { side in
      let team = side.realm.object(ofType: Census.Team.self, forPrimaryKey: team)
      return .measure(1000) {
        (0..<1000).reduce(0) { sum, _ in sum + (team?.followers.count ?? 0) }
      }
    }
  }

  private static func countOverSQLite(_ team: Int) -> @Sendable (SQLiteSide) throws -> Timing {
    { side in
      try .measure(1000) {
        try side.pool.read { database in
          try (0..<1000).reduce(0) { sum, _ in
            try sum
              + (Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM member WHERE team = ?", arguments: [team]) ?? 0)
          }
        }
      }
    }
  }

  static let linking: [Work] = [
    Work(
      name: "fill a list and the links back, each member", unit: .microseconds, writes: true,
      wanted: nil,
      overRealm: { side in
        let count = members(side.population)
        return try .measure(count) {
          try side.realm.write {
            let (large, small) = (Census.Team(), Census.Team())
            (large.id, small.id) = (0, 1)
            side.realm.add([large, small])
            for id in 0..<count {
              let member = Census.Member()
              (member.id, member.team) = (id, id == 0 ? small : large)
              large.members.append(member)
            }
          }
          return side.realm.objects(Census.Member.self).count
        }
      },
      overSQLite: { side in
        let count = members(side.population)
        return try .measure(count) {
          try side.pool.write { database in
            try database.execute(sql: "INSERT INTO team VALUES (0), (1)")
            let member = try database.cachedStatement(sql: "INSERT INTO member VALUES (?, ?)")
            let place = try database.cachedStatement(sql: "INSERT INTO membership VALUES (0, ?, ?)")
            for id in 0..<count {
              try member.execute(arguments: [id, id == 0 ? 1 : 0])
              try place.execute(arguments: [id, id])
            }
            return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM member") ?? 0
          }
        }
      }),
    Work(
      name: "linkingObjects.count, one links", unit: .microseconds, wanted: 1,
      overRealm: count(1), overSQLite: countOverSQLite(1)),
    Work(
      name: "linkingObjects.count, all members link", unit: .microseconds, wanted: 1,
      overRealm: count(0), overSQLite: countOverSQLite(0)),
    Work(
      name: "delete the objects of a list", unit: .milliseconds, writes: true, wanted: 20,
      overRealm: { side in
        let team = side.realm.object(ofType: Census.Team.self, forPrimaryKey: 0)
        return try .measure {
          try side.realm.write { if let team { side.realm.delete(team.members) } }
          return side.realm.objects(Census.Member.self).count
        }
      },
      overSQLite: { side in
        try .measure {
          try side.pool.write { database in
            try database.execute(
              sql: "DELETE FROM member WHERE id IN (SELECT member FROM membership WHERE team = 0)")
            try database.execute(sql: "DELETE FROM membership WHERE team = 0")
            return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM member") ?? 0
          }
        }
      }),
  ]

  static let opening: [Work] = [
    Work(
      name: "try Realm() of a database open in this context", unit: .microseconds, wanted: 2,
      overRealm: { side in
        let configuration = side.configuration
        guard Thread.isMainThread else { return Timing(seconds: .nan, answer: 0) }
        return try .measure(10_000) {
          for _ in 0..<10_000 { _ = try Realm(configuration: configuration) }
          return 0
        }
      }),
    Work(
      name: "freeze() of an object, version frozen before", unit: .microseconds, wanted: 0.2,
      realm: 0.19,
      overRealm: { side in
        let person = side.people[0]
        let frozen = person.freeze()
        return .measure(100_000) {
          (0..<100_000).reduce(0) { sum, _ in sum + (person.freeze().isFrozen ? 1 : 0) }
            + (frozen.isFrozen ? 1 : 0)
        }
      }),
  ]

  static let deleting: [Work] = [
    Work(
      name: "delete half by a query, each object", unit: .nanoseconds, writes: true, wanted: 150,
      realm: 4360,
      engine: nil,
      overRealm: { side in
        let half = side.population.people.count / 2
        return try .measure(half) {
          try side.realm.write { side.realm.delete(side.people.where { $0.score < 500 }) }
          return side.people.count
        }
      },
      overSQLite: { side in
        let half = side.population.people.count / 2
        return try .measure(half) {
          try side.pool.write { database in
            try SQLiteCensus.Person.filter(Column("score") < 500).deleteAll(database)
            return try SQLiteCensus.Person.fetchCount(database)
          }
        }
      })
  ]
}
