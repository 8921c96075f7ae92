import Cambium
import CambiumCore
import Foundation

final class Message: Object {
  @Persisted var text: String
}

/// `quota DATABASE BYTES` writes messages until the database has so many bytes, and goes on after some went.
@main
struct Program {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.first, let limit = arguments.dropFirst().first.flatMap({ Int($0) })
    else {
      print("usage: quota DATABASE BYTES")
      exit(2)
    }
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [Message.self])
    // The store is chosen here and nowhere else.
    configuration.store = StoreChoice(kind: "quota") { request throws(StoreError) in
      QuotaStore(try StoreChoice.file.open(request), limit: limit)
    }
    let realm = try Realm(configuration: configuration)
    print("\(try fill(realm)) portions fit")
    try realm.write { realm.delete(realm.objects(Message.self)) }
    print("after deleting, \(try fill(realm) > 0 ? "others fit" : "nothing fits")")
  }

  /// Writes portions of messages until there is no room; how many there was room for.
  private static func fill(_ realm: Realm) throws -> Int {
    for count in 0..<10_000 {
      do {
        try realm.write {
          for number in 0..<100 {
            realm.create(Message.self, value: ["text": "message \(number) \(UUID())"])
          }
        }
      } catch let error as Realm.Error where error.code == .outOfDiskSpace {
        // The transaction was taken back: all portions are whole.
        precondition(realm.objects(Message.self).count == count * 100)
        return count
      }
    }
    return 10_000
  }
}
