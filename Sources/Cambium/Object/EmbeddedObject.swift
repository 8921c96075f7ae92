/// The base class of models whose objects live inside of another object.
///
/// ```swift
/// class Address: EmbeddedObject {
///   @Persisted var street = ""
///   @Persisted var city: City?
/// }
///
/// class Person: Object {
///   @Persisted var address: Address?
///   @Persisted var former: List<Address>
/// }
/// ```
///
/// An embedded object belongs to one place: a property, an element of a list, a value of a map. Put there
/// while it is unmanaged it becomes managed, and it is deleted together with its place: when the owner is
/// deleted, or when something else takes the place. It cannot be added to a Realm by itself, and not be
/// moved to another owner; `Address(value: old)` makes a copy that can. It has no primary key, and no set
/// holds it.
nonisolated open class EmbeddedObject: ObjectBase {
  /// Makes an unmanaged object with the default values of its class.
  public required init() { super.init() }

  /// Makes an unmanaged object from a dictionary, an array or another object.
  public convenience init(value: Any) {
    self.init()
    assignInitialValue(value)
  }
}
