import CPlatform
import CambiumCore
import Synchronization

/// What a class is in a stored schema: its properties, their columns, the classes that they link to,
/// and how accessors are made.
///
/// Never changes, and is shared by all Realm instances of one schema version: live ones in every
/// context, and frozen ones. Where one of them stands in the class's table is its ``ClassAccess``, which
/// serves two layouts: that of the program's class, and that of ``DynamicObject``.
@safe final class ClassLayout: Sendable {
  /// The class's place among those of its schema.
  let index: Int
  /// The class as the program declares it.
  let description: ClassDescription
  /// How it is stored.
  let stored: StoredClass
  /// The type of its accessors.
  let type: ObjectBase.Type
  /// The class that each property links to, if it does.
  let targets: [Int?]
  /// What each property is.
  let shapes: [PropertyShape]
  /// The list properties.
  let collections: [Int]
  /// Where a row has the object's creation.
  let createdHead: _PersistedHead
  private let slots: [Slot]
  /// What accessors are copied from; nil when their initialiser has to run.
  ///
  /// Unchecked: its bytes do not change once the layout is made.
  private nonisolated(unsafe) let image: UnsafeMutableRawBufferPointer?
  private let dynamicTwin = AtomicLazyReference<ClassLayout>()

  /// What is written into an accessor for one property.
  private struct Slot {
    var offset: Int
    var head: _PersistedHead
  }

  /// Lays out a class that `record` describes the table of; `place` tells the numbers of classes that it
  /// links to.
  init(
    _ index: Int, _ description: ClassDescription, stored: StoredClass, record: TableRecord?,
    place: (_ className: String) -> Int?
  ) {
    self.index = index
    self.description = description
    self.stored = stored
    type = description.type
    targets = description.properties.map { property in
      property.property.objectClassName.flatMap(place)
    }
    shapes = description.properties.map { PropertyShape($0.property) }
    collections = description.properties.indices.filter {
      description.properties[$0].property.isCollection
    }
    slots = description.properties.enumerated().map { index, property in
      Slot(
        offset: property.offset,
        head: Self.head(stored.columns[index], UInt16(index), record))
    }
    createdHead = Self.head(stored.createdColumn, 0, record)
    unsafe image = unsafe description.blank.map { blank in
      let image = unsafe UnsafeMutableRawBufferPointer.allocate(
        byteCount: blank.bytes.count, alignment: 16)
      unsafe image.copyMemory(from: blank.bytes)
      return unsafe image
    }
    if let start = unsafe image?.baseAddress { unsafe writeHeads(start) }
  }

  /// Lays out accessors of the class of `typed` whose properties are known by name only.
  private init(dynamicTwinOf typed: ClassLayout) {
    let schema = typed.description.objectSchema
    index = typed.index
    description = ClassDescription(
      dynamic: schema.className, schema.allProperties, isEmbedded: schema.isEmbedded)
    stored = typed.stored
    type = description.type
    targets = typed.targets
    shapes = typed.shapes
    collections = typed.collections
    createdHead = typed.createdHead
    slots = typed.slots
    unsafe image = nil
  }

  deinit { unsafe image?.deallocate() }

  /// The layout of accessors of type `type`: this one, or that of ``DynamicObject``.
  @inline(__always) func layout(for type: Any.Type) -> ClassLayout {
    if type == self.type { return self }
    return type == DynamicObject.self ? dynamicLayout : self
  }

  /// The same class, laid out for ``DynamicObject``.
  var dynamicLayout: ClassLayout {
    if description.isDynamic { return self }
    return dynamicTwin.load() ?? dynamicTwin.storeIfNil(ClassLayout(dynamicTwinOf: self))
  }

  // Holds in every version that the schema fits: a column never changes its group, and the first group
  // stays the first because the creation is in it. The place is a hint.
  private static func head(
    _ column: UInt16, _ index: UInt16, _ record: TableRecord?
  ) -> _PersistedHead {
    var head = _PersistedHead(column: column, index: index, state: _PersistedHead.managed)
    guard let record, column != StoredClass.noColumn else { return head }
    if record.group(of: column) ?? 0 > 0 { head.flags = _PersistedHead.laterGroup }
    let before = record.groups.first?.prefix { $0.id < column }.count ?? 0
    head.place = UInt16(clamping: before)
    return head
  }

  /// The head that accessors hold for a property.
  func head(_ propertyIndex: Int) -> _PersistedHead { slots[propertyIndex].head }

  /// A new instance with the heads of this class.
  @inline(__always) func newAccessor() -> ObjectBase {
    guard let image = unsafe image, let start = image.baseAddress else {
      let object = type.init()
      unsafe writeHeads(object.storage)
      return object
    }
    // All of the object's memory but the runtime's part is initialised by the copy: no value in the
    // image has a reference count.
    guard
      let memory = unsafe cambium_allocate_object(
        unsafeBitCast(type, to: UnsafeRawPointer.self), image.count)
    else { preconditionFailure("The runtime gave no memory for an object.") }
    let own = BlankInstance.headerByteCount
    unsafe memcpy(memory + own, start + own, image.count &- own)
    return unsafe Unmanaged<ObjectBase>.fromOpaque(memory).takeRetainedValue()
  }

  /// Lets the properties of an object at `storage` read and write their columns.
  func writeHeads(_ storage: UnsafeMutableRawPointer) {
    if description.isDynamic { return }
    for slot in slots {
      unsafe storage.storeBytes(of: slot.head, toByteOffset: slot.offset, as: _PersistedHead.self)
    }
  }
}
