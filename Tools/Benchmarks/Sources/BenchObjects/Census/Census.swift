import Cambium

/// The classes of the census.
enum Census {
  /// A person as the benchmark of the engine knows it: six properties, one key.
  final class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var email: String
    @Persisted var score: Double
    @Persisted var active: Bool
  }

  /// Who comes from outside under a text as key, again and again.
  final class Account: Object {
    @Persisted(primaryKey: true) var key: String
    @Persisted(indexed: true) var name: String
    @Persisted var age: Int
  }

  /// A row to be sorted.
  final class Entry: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var group: Int
    @Persisted var name: String?
  }

  /// One of the members of a team.
  final class Member: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var team: Team?
    @Persisted(originProperty: "members") var teams: LinkingObjects<Team>
  }

  /// A team with a list of members, and those that link to it.
  final class Team: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var members: List<Member>
    @Persisted(originProperty: "team") var followers: LinkingObjects<Member>
  }

  static let classes: [Object.Type] = [
    Person.self, Account.self, Entry.self, Member.self, Team.self,
  ]
}
