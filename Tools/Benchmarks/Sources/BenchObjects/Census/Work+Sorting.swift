import Cambium
import GRDB

extension Work {
  private typealias Row = SQLiteCensus.Entry

  static let sorting = EntryOrder.allCases.flatMap(sorting)

  private static func sorted(_ side: RealmSide) -> Results<Census.Entry> {
    side.realm.objects(Census.Entry.self).sorted(
      by: [Cambium.SortDescriptor(keyPath: "group"), Cambium.SortDescriptor(keyPath: "name")])
  }

  /// Equal rows come in the order of their keys, as from a stable sort.
  private static let request = Row.order(Column("grp"), Column("name"), Column("id"))

  /// Makes the rows anew and sorts them: the first, the first hundred, all.
  private static func sorting(_ order: EntryOrder) -> [Work] {
    let isPlain = order == .unique
    return [
      Work(
        name: "create \(order.rawValue)", unit: .seconds, writes: true, wanted: nil,
        overRealm: { side in
          let entries = side.population.entries(order)
          return try .measure {
            try side.realm.write {
              side.realm.delete(side.realm.objects(Census.Entry.self))
              for (id, data) in entries.enumerated() {
                let entry = Census.Entry()
                (entry.id, entry.group, entry.name) = (id, data.group, data.name)
                side.realm.add(entry)
              }
            }
            return entries.count
          }
        },
        overSQLite: { side in
          let entries = side.population.entries(order)
          return try .measure {
            try side.pool.write { database in
              try Row.deleteAll(database)
              for (id, data) in entries.enumerated() { try Row(data, id: id).insert(database) }
            }
            return entries.count
          }
        }),
      Work(
        name: "first by two keys: \(order.rawValue)", unit: .milliseconds, wanted: 3,
        overRealm: { side in .measure { sorted(side).first?.id ?? -1 } },
        overSQLite: { side in
          try .measure { try side.pool.read { try request.fetchOne($0)?.id ?? -1 } }
        }),
      Work(
        name: "prefix(100) by two keys: \(order.rawValue)", unit: .milliseconds, wanted: 3,
        engine: isPlain ? ("W7", "first 100 by age and name") : nil,
        overRealm: { side in .measure { sorted(side).prefix(100).reduce(0) { $0 &* 31 &+ $1.id } }
        },
        overSQLite: { side in
          try .measure {
            try side.pool.read {
              try request.limit(100).fetchAll($0).reduce(0) { $0 &* 31 &+ $1.id }
            }
          }
        }),
      Work(
        name: "sort by two keys, first 100 read: \(order.rawValue)", unit: .milliseconds,
        wanted: isPlain ? 70 : 105, realm: isPlain ? 3798 : nil,
        engine: isPlain ? ("W7", "sort by age and name") : nil,
        overRealm: { side in
          .measure {
            let entries = sorted(side)
            return (0..<min(100, entries.count)).reduce(0) { $0 &* 31 &+ entries[$1].id }
          }
        }),
      Work(
        name: "sort by two keys, all read: \(order.rawValue)", unit: .milliseconds, wanted: 350,
        overRealm: { side in
          .measure { sorted(side).reduce(0) { $0 &* 31 &+ $1.id } }
        },
        overSQLite: { side in
          try .measure {
            try side.pool.read { database in
              var digest = 0
              let rows = try request.fetchCursor(database)
              while let entry = try rows.next() { digest = digest &* 31 &+ entry.id }
              return digest
            }
          }
        }),
    ]
  }
}
