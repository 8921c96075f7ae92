import Cambium

/// An object with a collection of each kind.
final class Holder: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var list: List<Int>
  @Persisted var set: MutableSet<Int>
  @Persisted var map: Map<String, Int>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var texts: List<String>
}

// What a collection of 100,000 costs.
extension Operation {
  private static let elementCount = 100_000

  /// Fills a collection in a transaction; an operation is an element.
  private static func filling(
    _ name: String, _ fill: @escaping @Sendable (Holder, [Int]) -> Void
  ) -> Operation {
    Operation(name: name, needsObjects: false, stores: [.memory, .file]) { world, _ in
      let elements = (0..<elementCount).map { $0 &* 7919 % 1_000_003 }
      let realm = world.realm
      realm.beginWrite()
      let holder = realm.create(Holder.self, value: ["id": 1])
      let duration = ContinuousClock().measure { fill(holder, elements) }
      realm.cancelWrite()
      return (elements.count, duration)
    }
  }

  static let collections = [
    Operation(name: "delete the objects of a list", needsObjects: false) { world, _ in
      let realm = world.realm
      let count = 20_000
      let team = Census.Team()
      try realm.write {
        realm.add(team)
        for id in 0..<count {
          let member = Census.Member()
          (member.id, member.team) = (id, team)
          team.members.append(member)
        }
      }
      let duration = try ContinuousClock().measure {
        try realm.write { realm.delete(team.members) }
      }
      return (count, duration)
    },
    filling("fill a list at once") { $0.list.append(objectsIn: $1) },
    filling("fill a set at once") { $0.set.insert(objectsIn: $1) },
    filling("fill a map at once") { holder, elements in
      holder.map.merge(elements.map { (key: "\($0)", value: $0) }) { $1 }
    },
    filling("fill a list of texts at once") { holder, elements in
      holder.texts.append(objectsIn: elements.map { "\($0)" })
    },
    filling("fill a list of any values at once") { holder, elements in
      holder.anys.append(objectsIn: elements.map { .int($0) })
    },
    filling("fill a list one by one") { holder, elements in
      for element in elements { holder.list.append(element) }
    },
    filling("fill a list of texts one by one") { holder, elements in
      for element in elements { holder.texts.append("\(element)") }
    },
    filling("fill a set one by one") { holder, elements in
      for element in elements { holder.set.insert(element) }
    },
    filling("fill a map one by one") { holder, elements in
      for element in elements { holder.map["\(element)"] = element }
    },
  ]
}
