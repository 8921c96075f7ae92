import Cambium
import Foundation
import TestSupport

// Objects where they do not belong.
extension SpecTrap {
  /// Links to a class that has a subclass.
  final class Kennel: Object {
    @Persisted var guest: SpecDogLike?
    @Persisted var guests: List<SpecDogLike>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  static let links: [SpecTrap] = [
    SpecTrap("linking an object of a subclass", wrongClass) {
      let (_, kennel) = try openKennel()
      kennel.guest = SpecPuppy()
    },
    SpecTrap("linking a managed object of a subclass", wrongClass) {
      let (realm, kennel) = try openKennel()
      kennel.guest = realm.create(SpecPuppy.self)
    },
    SpecTrap("a list with an object of a subclass", wrongClass) {
      let (_, kennel) = try openKennel()
      kennel.guests.append(SpecPuppy())
    },
    SpecTrap("a list with a managed object of a subclass", wrongClass) {
      let (realm, kennel) = try openKennel()
      kennel.guests.append(objectsIn: [SpecDogLike(), realm.create(SpecPuppy.self)])
    },
    SpecTrap("replacing by an object of a subclass", wrongClass) {
      let (_, kennel) = try openKennel()
      kennel.guests.append(SpecDogLike())
      kennel.guests[0] = SpecPuppy()
    },
    SpecTrap("adding what links to an object of a subclass", wrongClass) {
      let (realm, _) = try openKennel()
      let kennel = Kennel()
      kennel.guest = SpecPuppy()
      realm.add(kennel)
    },
    SpecTrap("adding a list with an object of a subclass", wrongClass) {
      let (realm, _) = try openKennel()
      let kennel = Kennel()
      kennel.guests.append(objectsIn: [SpecDogLike(), SpecPuppy()])
      realm.add(kennel)
    },
    SpecTrap("a dynamic link to an object of another class", wrongNamed) {
      let realm = try specRealm()
      realm.beginWrite()
      let ann = realm.dynamicCreate("SpecPerson", value: ["id": 1])
      ann["favorite"] = ann
    },
    SpecTrap("a dynamic link to a typed object of another class", wrongNamed) {
      let realm = try specRealm()
      realm.beginWrite()
      let ann = realm.create(SpecPerson.self, value: ["id": 1])
      realm.dynamicObjects("SpecPerson")[0]["favorite"] = ann
    },
    SpecTrap("a dynamic link to a new object of another class", wrongNamed) {
      let realm = try specRealm()
      realm.beginWrite()
      let ann = realm.dynamicCreate("SpecPerson", value: ["id": 1])
      ann["favorite"] = SpecPerson(2, "Bob")
    },
    SpecTrap("dynamic objects of no class", "Object type 'Cat' is not managed by the Realm.") {
      _ = try specRealm().dynamicObjects("Cat")
    },
    migration("linking an object of another class in a migration", wrongMigrated) { migration in
      let thin = migration.create("Thin")
      migration.enumerateObjects(ofType: "Human") { _, new in new?.best = thin }
    },
    migration("a list with an object of another class in a migration", wrongMigrated) {
      let thin = $0.create("Thin")
      $0.create("Fresh", value: ["pets": [thin]])
    },
    migration(
      "linking an old object of another class", "Can't set object of type 'Human' to property of"
    ) {
      $0.enumerateObjects(ofType: "Human") { old, new in new?.best = old }
    },
    SpecTrap("appending two objects of one key", "with an existing primary key value '7'.") {
      let realm = try specRealm([KeyedNode.self])
      realm.beginWrite()
      let owner = realm.create(KeyedNode.self, value: ["id": 1])
      owner.nodes.append(objectsIn: [KeyedNode(value: ["id": 7]), KeyedNode(value: ["id": 7])])
    },
    SpecTrap("linking to an object of one's own key", "with an existing primary key value '7'.") {
      let realm = try specRealm([KeyedNode.self])
      realm.beginWrite()
      realm.add(KeyedNode(value: ["id": 7, "next": ["id": 7]]))
    },
  ]

  private static let wrongClass =
    "Can't set object of type 'SpecPuppy' to property of type 'SpecDogLike'"
  private static let wrongNamed =
    "Can't set object of type 'SpecPerson' to property of type 'SpecDog'"
  private static let wrongMigrated = "Can't set object of type 'Thin' to property of type 'Pet'"

  private static func openKennel() throws -> (Realm, Kennel) {
    let realm = try specRealm(specTypes + [Kennel.self])
    realm.beginWrite()
    return (realm, realm.create(Kennel.self))
  }
}

/// Links to its like, and has an integer as primary key.
final class KeyedNode: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var next: KeyedNode?
  @Persisted var nodes: List<KeyedNode>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
