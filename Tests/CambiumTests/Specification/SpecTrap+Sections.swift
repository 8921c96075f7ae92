import Cambium
import TestSupport

/// A projection of something that is not stored.
final class BadProjection: Projection<SpecMapMember> {
  @Projected(\SpecMapMember.isInvalidated) var gone
}

/// A projection of something that cannot be written.
final class ReadOnlyProjection: Projection<SpecMapMember> {
  @Projected(\SpecMapMember.friend?.name) var friend
}

// Misuse of sections and projections.
extension SpecTrap {
  static let sections: [SpecTrap] = [
    SpecTrap(
      "sections without an order", "There must be at least one SortDescriptor when using Sec"
    ) { _ = try specRealm().objects(SpecDog.self).sectioned(sortDescriptors: []) { $0.name } },
    SpecTrap("sections by a path without an order", "Can not section Results with empty sortDescr")
    {
      _ = try specRealm().objects(SpecDog.self).sectioned(by: \.name, sortDescriptors: [])
    },
    SpecTrap("sections in another order", "The section key path must match the primary sort descr")
    {
      _ = try specRealm().objects(SpecDog.self)
        .sectioned(by: \.name, sortDescriptors: [SortDescriptor(keyPath: "age")])
    },
    SpecTrap(
      "sections of projections in another order", "The section key path must match the primary"
    ) {
      _ = try specRealm(guestTypes).objects(GuestProjection.self)
        .sectioned(by: \.title, sortDescriptors: [SortDescriptor(keyPath: "age")])
    },
    SpecTrap(
      "sections of projections by a path without an order",
      "Can not section Results with empty sortD"
    ) {
      _ = try specRealm(guestTypes).objects(GuestProjection.self)
        .sectioned(by: \.title, sortDescriptors: [])
    },
    SpecTrap("sections by links", "Links are not supported as section keys.") {
      _ = try specRealm().objects(SpecPerson.self)
        .sectioned(by: { $0.favorite }, sortDescriptors: [SortDescriptor(keyPath: "id")])
    },
    SpecTrap("a section out of bounds", "Index 0 is out of bounds (must be less than 0).") {
      _ = try specRealm().objects(SpecDog.self).sectioned(by: \.name)[0]
    },
    SpecTrap("observing an unmanaged projection", "Only objects which are managed by a Realm supp")
    {
      _ = ReadOnlyProjection(projecting: SpecMapMember()).observe { _ in }
    },
    SpecTrap("a projection of what is not stored", "@Projected property 'gone' must be a part of") {
      _ = BadProjection(projecting: SpecMapMember()).description
    },
    SpecTrap("writing through an optional link", "KeyPath is not writable") {
      ReadOnlyProjection(projecting: SpecMapMember()).friend = "x"
    },
  ]
}
