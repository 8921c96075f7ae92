// snippet.hide
import Cambium
import Foundation

// The trait brings what the snippet shows.
#if RealmFile
  let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
  let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .appendingPathComponent("Tests/CambiumRealmFileTests/Samples/tiny.realm")
  let (url, oldFile, newFile) = (
    folder.appendingPathComponent("default.realm"), folder.appendingPathComponent("old.realm"),
    folder.appendingPathComponent("dogs.cambium")
  )
  for file in [url, oldFile, newFile] {
    try? FileManager.default.removeItem(at: file)
    if file != newFile { try FileManager.default.copyItem(at: sample, to: file) }
  }

  class Dog: Object {
    @Persisted var name: String
    @Persisted var age: Int?
  }

  // snippet.show
  var configuration = Realm.Configuration(fileURL: url, schemaVersion: 2)
  configuration.migratesRealmFiles = true
  configuration.importProgress = { progress in
    print("\(progress.className): \(progress.completed) of \(progress.total)")
  }
  let realm = try Realm(configuration: configuration)
  // snippet.hide
  print(Array(realm.objects(Dog.self).map(\.name)))
  // snippet.show
  // snippet.next
  let report = try Realm.importRealmFile(
    at: oldFile, into: Realm.Configuration(fileURL: newFile))
  for type in report.classes { print(type.className, type.objectCount) }
// snippet.hide
#endif
