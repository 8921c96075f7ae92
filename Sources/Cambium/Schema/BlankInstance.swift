import CPlatform

/// The bytes of an instance of a model class in which no property has a value.
///
/// Accessors read their row, so they need no default values: those of a class whose stored properties
/// are all `@Persisted` are made by copying these bytes instead of running its initialiser.
///
/// Unchecked: the bytes are never changed, and belong to a description that is never freed.
@safe struct BlankInstance: @unchecked Sendable {
  /// The instance, whose first bytes are the runtime's.
  let bytes: UnsafeRawBufferPointer

  /// How many bytes the runtime keeps at the start of every object.
  static let headerByteCount = 16

  /// Copies `sample`, whose properties it clears.
  init(_ sample: ObjectBase, _ properties: [ClassDescription.PropertyDescription]) {
    for property in properties { unsafe property.wrapper.discard(sample.storage + property.offset) }
    let count = Self.byteCount(of: type(of: sample))
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    unsafe copy.copyMemory(from: UnsafeRawBufferPointer(start: sample.storage, count: count))
    unsafe bytes = UnsafeRawBufferPointer(copy)
    withExtendedLifetime(sample) {}
  }

  /// How long an instance of `type` is.
  static func byteCount(of type: ObjectBase.Type) -> Int {
    unsafe cambium_instance_size(unsafeBitCast(type, to: UnsafeRawPointer.self))
  }
}
