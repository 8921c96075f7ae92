// snippet.hide
import Cambium

Realm.Configuration.defaultConfiguration = Realm.Configuration(inMemoryIdentifier: "any values")

// snippet.show
class Setting: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var value: AnyRealmValue
}

// snippet.hide
let realm = try Realm()
try realm.write { realm.deleteAll() }

// snippet.next
// snippet.show
try realm.write {
  realm.create(Setting.self, value: ["name": "retries", "value": 3])
  realm.create(Setting.self, value: ["name": "timeout", "value": 2.5])
  let window = realm.create(Setting.self, value: ["name": "window"])
  window.value = .fromDictionary([
    "title": .string("Main"), "sizes": .fromArray([.int(800), .int(600)]),
  ])
}

// snippet.next
for setting in realm.objects(Setting.self).sorted(by: \.name) {
  switch setting.value {
  case .int(let count): print(setting.name, "is the number", count)
  case .double(let seconds): print(setting.name, "is", seconds)
  case .dictionary(let entries): print(setting.name, "has", entries.keys.sorted())
  default: print(setting.name, "is something else")
  }
}

// snippet.next
let settings = realm.objects(Setting.self)
let large = settings.where { $0.value > .double(2.9) }  // numbers of all types
let wide = settings.where { $0.value["sizes"][0] == .int(800) }
let titled = settings.filter("value['title'] == 'Main'")

// snippet.hide
print(large.first?.name ?? "", wide.count, titled.count)

// snippet.next
// snippet.show
try realm.write {
  guard let window = wide.first?.value.dictionaryValue else { return }
  window["title"] = .string("Editor")
  window["sizes"]?.listValue?[0] = .int(1024)
}

// snippet.hide
print(settings.filter("value['sizes'][0] == 1024 AND value['title'] == 'Editor'").count)
