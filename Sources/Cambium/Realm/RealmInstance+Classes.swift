import CambiumCore

/// The classes that an instance was opened with, and those that it met.
extension RealmInstance {
  /// Adds classes, which are numbered as they come.
  func append(_ layouts: [ClassLayout]) {
    let block = UnsafeMutablePointer<AccessHeader>.allocate(capacity: layouts.count)
    unsafe block.initialize(
      repeating: AccessHeader(thread: thread, generation: 1), count: layouts.count)
    unsafe headers.append(block)
    if unsafe classes.isEmpty { unsafe classes.reserveCapacity(layouts.count) }
    for (place, layout) in layouts.enumerated() {
      unsafe classes.append(ClassAccess(realm: self, layout: layout, header: block + place))
    }
    unsafe session?.makeRoom(for: classes.count)
  }

  /// The classes that the Realm was opened with.
  var declaredClasses: ArraySlice<ClassAccess> {
    unsafe classes.prefix(classSet.descriptions.count)
  }

  /// The class of `type`; nil when it does not belong to this Realm.
  func access(of type: ObjectBase.Type) -> ClassAccess? {
    if isFrozen { return classSet.index(of: type).map { unsafe classes[$0] } }
    // Most questions are for the class of the last one.
    if unsafe lastIndex >= 0, unsafe classes[lastIndex].layout.type == type {
      return unsafe classes[lastIndex]
    }
    guard let index = classSet.index(of: type) else { return nil }
    unsafe lastIndex = index
    return unsafe classes[index]
  }

  /// The class of `type`; stops when it does not belong to this Realm.
  func requiredAccess(of type: ObjectBase.Type) -> ClassAccess {
    guard let access = access(of: type) else { stopAtForeignClass(type.className()) }
    return access
  }

  /// The class with that name; nil when it does not belong to this Realm.
  func access(named name: String) -> ClassAccess? {
    classSet.index(named: name).map { unsafe classes[$0] }
  }

  /// The class with that name; stops when it does not belong to this Realm.
  func requiredAccess(named name: String) -> ClassAccess {
    guard let access = access(named: name) else { stopAtForeignClass(name) }
    return access
  }

  func stopAtForeignClass(_ name: String) -> Never {
    fatalError(
      "Object type '\(name)' is not managed by the Realm. If using a custom `objectClasses` / "
        + "`objectTypes` array in your configuration, add `\(name)` to the list of `objectClasses` "
        + "/ `objectTypes`.")
  }
}
