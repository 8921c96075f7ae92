// snippet.hide
import Cambium

Realm.Configuration.defaultConfiguration = Realm.Configuration(inMemoryIdentifier: "collections")

// snippet.show
class Playlist: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var tracks: List<String>
  @Persisted var genres: MutableSet<String>
  @Persisted var plays: Map<String, Int>
}

// snippet.hide
let realm = try Realm()
try realm.write { realm.deleteAll() }
let evening = try realm.write {
  realm.create(Playlist.self, value: ["name": "Evening", "tracks": ["Dusk", "Night"]])
}

// snippet.next
// snippet.show
try realm.write {
  evening.tracks.append("Dawn")
  evening.tracks.insert("Noon", at: 0)
  evening.tracks.move(from: 3, to: 1)
  if let place = evening.tracks.index(of: "Night") { evening.tracks.remove(at: place) }
}
print(Array(evening.tracks))

// snippet.next
try realm.write {
  evening.genres.insert(objectsIn: ["ambient", "jazz", "jazz"])
  let others = realm.create(
    Playlist.self, value: ["name": "Morning", "genres": ["jazz", "piano"]])
  evening.genres.formUnion(others.genres)
  print(others.genres.isSubset(of: evening.genres))
}
print(evening.genres.count, evening.genres.contains("piano"))

// snippet.next
try realm.write {
  evening.plays["Dusk"] = 3
  evening.plays["Dawn"] = (evening.plays["Dawn"] ?? 0) + 1
  evening.plays["Dusk"] = nil  // takes the entry out
}
for entry in evening.plays { print(entry.key, entry.value) }

// snippet.next
let calm = realm.objects(Playlist.self).where {
  $0.genres.contains("ambient") && $0.tracks.count > 2
}
let loved = realm.objects(Playlist.self).filter("plays['Dawn'] > 0 AND ANY tracks BEGINSWITH 'D'")
let inOrder = evening.tracks.sorted(ascending: true)

// snippet.hide
print(calm.count, loved.count, Array(inOrder))
