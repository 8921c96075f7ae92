/// An object, whichever accessor leads to it, as a key of dictionaries.
///
/// Keeps the accessor: another one in its place in memory would be taken for it.
struct SameObject: Hashable {
  // Exclusivity is not checked: an object's key is loaded, and loading it calls nothing.
  let object: ObjectBase

  static func == (left: SameObject, right: SameObject) -> Bool {
    left.object.isSameObject(as: right.object)
  }

  func hash(into hasher: inout Hasher) {
    if object.isManaged {
      unsafe hasher.combine(object.key)
    } else {
      hasher.combine(ObjectIdentifier(object))
    }
  }
}
