// snippet.hide
import Cambium
import Foundation

let url = URL(fileURLWithPath: "stores.cambium")
// snippet.show
var configuration = Realm.Configuration(fileURL: url)  // a mapped file, the default
configuration.durability = .relaxed  // power loss may take the last moments
let scratch = Realm.Configuration(inMemoryIdentifier: "scratch")
// snippet.hide
for choice in [configuration, scratch] {
  let realm = try Realm(configuration: choice)
  try realm.write {}
  print(realm.configuration.fileURL?.lastPathComponent ?? "memory")
}
