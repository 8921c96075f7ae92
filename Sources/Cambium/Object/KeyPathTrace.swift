/// Finds the name behind a Swift key path by following it through an object that notes what is read.
///
/// Pointers: heads are written into an object that the caller has, where its class's metadata says that
/// the properties begin.
final class KeyPathTrace {
  private var names: [String] = []

  private init() {}

  /// The dotted name of the property that `keyPath` leads to; nil when it reads no property.
  static func name(_ keyPath: AnyKeyPath, from type: ObjectBase.Type) -> String? {
    name(of: { $0[keyPath: keyPath] }, from: type)
  }

  /// The dotted name of the property that `read` reads last; nil when it reads none.
  static func name<T: ObjectBase>(of read: (T) -> Any?, from type: T.Type) -> String? {
    let trace = KeyPathTrace()
    let object = type.init()
    trace.prepare(object)
    let value = read(object)
    if let projected = value as? any ProjectedPath { trace.names.append(projected.path) }
    return trace.names.isEmpty ? nil : trace.names.joined(separator: ".")
  }

  /// Lets the trace go on in `next`.
  static func `continue`(from object: ObjectBase, to next: ObjectBase) {
    unsafe object.extra?.trace?.prepare(next)
  }

  private func prepare(_ object: ObjectBase) {
    let description = ClassRegistry.description(of: type(of: object))
    unsafe object.extra = ObjectExtra(trace: self)
    for (index, property) in description.properties.enumerated() {
      let head = _PersistedHead(column: 0, index: UInt16(index), state: _PersistedHead.traced)
      unsafe object.storage.storeBytes(
        of: head, toByteOffset: property.offset, as: _PersistedHead.self)
    }
  }

  func note(_ name: String) { names.append(name) }
}

extension ObjectBase {
  /// Notes that a key path's trace has read a property.
  @usableFromInline final func recordTrace(_ head: _PersistedHead) {
    let description = ClassRegistry.description(of: type(of: self))
    unsafe extra?.trace?.note(description.properties[Int(head.index)].property.name)
  }
}

/// The dotted name of the property that a Swift key path leads to.
///
/// Parts that are computed in Swift are not seen. Stops when the path reads no stored property.
public func _name<T: ObjectBase>(for keyPath: PartialKeyPath<T>) -> String {
  guard let name = KeyPathTrace.name(keyPath, from: T.self) else {
    fatalError("The key path '\(keyPath)' of '\(T.className())' reads no @Persisted property.")
  }
  return name
}
