import GRDB

/// The same as tables of SQLite, through records of GRDB's that name their columns by position.
enum SQLiteCensus {
  struct Person: FetchableRecord, PersistableRecord {
    static let databaseTableName = "person"
    var id: Int
    var name: String
    var age: Int
    var email: String
    var score: Double
    var active: Bool

    init(_ data: PersonData) {
      (id, name, age) = (data.id, data.name, data.age)
      (email, score, active) = (data.email, data.score, data.active)
    }

    init(row: Row) {
      (id, name, age) = (row[0], row[1], row[2])
      (email, score, active) = (row[3], row[4], row[5])
    }

    func encode(to container: inout PersistenceContainer) {
      container["id"] = id
      container["name"] = name
      container["age"] = age
      container["email"] = email
      container["score"] = score
      container["active"] = active
    }
  }

  struct Account: PersistableRecord {
    static let databaseTableName = "account"
    var key: String
    var name: String
    var age: Int

    func encode(to container: inout PersistenceContainer) {
      container["key"] = key
      container["name"] = name
      container["age"] = age
    }
  }

  struct Entry: FetchableRecord, PersistableRecord {
    static let databaseTableName = "entry"
    var id: Int
    var group: Int
    var name: String?

    init(_ data: EntryData, id: Int) {
      self.id = id
      (group, name) = (data.group, data.name)
    }

    init(row: Row) { (id, group, name) = (row[0], row[1], row[2]) }

    func encode(to container: inout PersistenceContainer) {
      container["id"] = id
      container["grp"] = group
      container["name"] = name
    }
  }

  static let schema = """
    CREATE TABLE person (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, email TEXT NOT NULL,
      score REAL NOT NULL, active INTEGER NOT NULL);
    CREATE TABLE account (key TEXT PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL);
    CREATE INDEX account_name ON account(name);
    CREATE TABLE entry (id INTEGER PRIMARY KEY, grp INTEGER NOT NULL, name TEXT);
    CREATE TABLE team (id INTEGER PRIMARY KEY);
    CREATE TABLE member (id INTEGER PRIMARY KEY, team INTEGER REFERENCES team(id));
    CREATE INDEX member_team ON member(team);
    CREATE TABLE membership (
      team INTEGER NOT NULL, position INTEGER NOT NULL, member INTEGER NOT NULL,
      PRIMARY KEY (team, position)) WITHOUT ROWID;
    CREATE INDEX membership_member ON membership(member);
    """
}
