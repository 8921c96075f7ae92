// snippet.hide
import Cambium

Realm.Configuration.defaultConfiguration = Realm.Configuration(inMemoryIdentifier: "relationships")

// snippet.show
class Desk: EmbeddedObject {
  @Persisted var room: String
  @Persisted var floor: Int
}

class Employee: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var boss: Employee?
  @Persisted var desk: Desk?
  @Persisted(originProperty: "boss") var team: LinkingObjects<Employee>
  @Persisted(originProperty: "members") var projects: LinkingObjects<Project>
}

class Project: Object {
  @Persisted var title: String
  @Persisted var members: List<Employee>
}

// snippet.hide
let realm = try Realm()
try realm.write { realm.deleteAll() }

// snippet.next
// snippet.show
try realm.write {
  let ada = Employee(value: ["name": "Ada", "desk": ["room": "2.14", "floor": 2]])
  let ben = Employee(value: ["name": "Ben", "boss": ada])
  realm.add([ada, ben])
  realm.create(Project.self, value: ["title": "Engine", "members": [ada, ben]])
}

// snippet.next
let ada = realm.object(ofType: Employee.self, forPrimaryKey: "Ada")
print(ada?.team.first?.name ?? "", ada?.projects.first?.title ?? "")

// snippet.next
let upstairs = realm.objects(Employee.self).where { $0.boss.desk.floor == 2 }
let engineers = realm.objects(Employee.self).where { $0.projects.title == "Engine" }
let leads = realm.objects(Employee.self).filter("team.@count > 0")

// snippet.hide
print(Array(upstairs.map(\.name)), engineers.count, Array(leads.map(\.name)))

// snippet.next
// snippet.show
try realm.write {
  ada?.desk = Desk(value: ["room": "3.01", "floor": 3])  // the old desk is gone
  if let ada { realm.delete(ada) }  // and now this one; links to Ada become nil
}

// snippet.hide
print(
  realm.dynamicObjects("Desk").count, realm.objects(Employee.self).first?.boss?.name ?? "nobody",
  Array(realm.objects(Project.self)[0].members.map(\.name)))
