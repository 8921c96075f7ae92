import CPlatform
import CambiumCore
import Foundation
import Synchronization

/// The root of all model classes.
///
/// An unmanaged object is an ordinary Swift object whose `@Persisted` properties hold plain values.
/// A managed one is an accessor: it names a row of its Realm's version, by key and creation, and
/// remembers where it last found it. Derive from
/// ``Object`` or ``EmbeddedObject``.
@safe nonisolated open class ObjectBase {
  // The fields that every property access reads. Exclusivity is not checked: an accessor is confined to
  // its Realm's context, or frozen and never changed again.
  //
  // Pointers: an accessor keeps its Realm, which owns the header and the class. The row is read only while
  // the generation in which it was found is current: until then the Realm's version or the row's owner keeps
  // the bytes. A property's storage is a part of the object.

  /// Shared by all accessors of a class in a Realm: the context's own thread and the rows' generation.
  @exclusivity(unchecked) @usableFromInline final var header: UnsafeMutablePointer<AccessHeader>
  /// The generation in which ``row`` was found; 0 for never.
  @exclusivity(unchecked) @usableFromInline final var generation: UInt64 = 0
  /// Where the object's cells are, while ``generation`` is current.
  @exclusivity(unchecked) @usableFromInline final var row = LeafRow()
  /// Keeps the memory of ``row`` alive, where the Realm's version does not.
  @exclusivity(unchecked) final var rowOwner: AnyObject?

  /// The Realm; nil for unmanaged objects.
  ///
  /// Set once: other threads may ask for it.
  @exclusivity(unchecked) final var instance: RealmInstance?
  /// The class in that Realm, which keeps it alive.
  @exclusivity(unchecked) final var access: Unmanaged<ClassAccess>?
  /// The object's key in its class.
  @exclusivity(unchecked) final var key: Int64 = 0
  /// ``created``, for which other threads may ask while the object is deleted through this accessor.
  private final let creation = Atomic<Int64>(ObjectBase.unmanagedCreation)

  /// What few objects have; nil for all others.
  @exclusivity(unchecked) final var extra: ObjectExtra?
  /// How often the Realm had been invalidated when the accessor was made.
  @exclusivity(unchecked) final var epoch: UInt64 = 0

  /// In ``generation``: the object has a key, but waits for its row.
  static let queuedGeneration = UInt64.max - 1
  /// In ``created``: the object is not managed.
  static let unmanagedCreation: Int64 = -1
  /// In ``created``: the object was deleted through this accessor.
  static let deletedCreation: Int64 = -2

  /// Makes an unmanaged object with the default values of its class.
  public required init() {
    unsafe header = unsafe AccessHeader.unmanaged
  }

  /// Whether `object` is an object that equals this one: objects with a primary key, and frozen ones, do when they
  /// are the same row (of the same version), all others when they are the same instance.
  ///
  /// Models may override it, together with ``hash``; `==` and collections ask it.
  open func isEqual(_ object: Any?) -> Bool {
    object.flatMap(modelObject).map(isSameRow) ?? false
  }

  /// Equal for objects that are equal.
  open var hash: Int {
    var hasher = Hasher()
    hashIdentity(into: &hasher)
    return hasher.finalize()
  }

  /// The property with that name, nil for null, as `object[key]` has it.
  open func value(forKey key: String) -> Any? { NSNumber.boxing(dynamicValue(key)) }

  /// Assigns the property with that name.
  ///
  /// Stops when there is none or the value is of a wrong type.
  open func setValue(_ value: Any?, forKey key: String) { setDynamicValue(value, key) }

  /// The type's name without its module, which names the class in the database.
  public class func className() -> String { String(describing: self) }

  /// Whether the class belongs to Realms that list no classes; true unless overridden.
  open class func shouldIncludeInDefaultSchema() -> Bool { true }

  /// Another name for the class in the database; nil unless overridden.
  open class func _realmObjectName() -> String? { nil }

  /// Column names of properties that differ from their Swift names; none unless overridden.
  open class func propertiesMapping() -> [String: String] { [:] }

  /// The older name of ``propertiesMapping()``, asked where that has none.
  open class func _realmColumnNames() -> [String: String] { [:] }

  /// What older models override to name what is not kept, which is whatever is not `@Persisted`.
  ///
  /// None, and asked of no class with `@Persisted` properties.
  open class func ignoredProperties() -> [String] { [] }

  /// The property with that name, nil for null.
  ///
  /// Numbers and truth values come as `NSNumber`, which casts to every type that holds the value:
  /// `object["age"] as? Int` serves integer properties of all widths. An enumeration is its raw value.
  /// Assigned may be whatever the typed property takes, boxed or not, a case or its raw value.
  ///
  /// Dotted names are not followed; see `value(forKeyPath:)`. Stops when there is no such property,
  /// or the value is of a wrong type.
  open subscript(key: String) -> Any? {
    get { NSNumber.boxing(dynamicValue(key)) }
    set { setDynamicValue(newValue, key) }
  }

  /// Whether the object was deleted, or its Realm invalidated; false for unmanaged objects.
  ///
  /// May be asked from any thread.
  open var isInvalidated: Bool { isGone }

  /// The object's properties, one per line.
  open var description: String { ObjectDescription.text(of: self) }
}

/// What every accessor of a class looks at before it uses the row it remembers.
///
/// Pointers: lives in memory that the Realm frees at its end, and every accessor keeps its Realm. The one of
/// unmanaged objects is never freed.
@frozen @usableFromInline struct AccessHeader {
  /// The control block of the thread on which nothing but the Realm's context runs; ``noThread`` where
  /// the context has to be asked, ``anyThread`` for frozen Realms.
  @usableFromInline var thread: UInt
  /// Rises whenever rows may have moved: a new version, a change in this class.
  @usableFromInline var generation: UInt64

  @usableFromInline static let anyThread: UInt = 0
  /// No thread's control block lies here.
  static let noThread: UInt = 1

  /// The header of all unmanaged objects.
  ///
  /// Never changed, never freed.
  nonisolated(unsafe) static let unmanaged: UnsafeMutablePointer<AccessHeader> = {
    let header = UnsafeMutablePointer<AccessHeader>.allocate(capacity: 1)
    unsafe header.initialize(to: AccessHeader(thread: noThread, generation: .max))
    return unsafe header
  }()
}

extension ObjectBase {
  /// Whether the row that the accessor remembers may be read here and now.
  @inlinable @inline(__always) final var isRowCurrent: Bool {
    unsafe header.pointee.generation == generation
      && (header.pointee.thread == cambium_thread_pointer()
        || header.pointee.thread == AccessHeader.anyThread || isInContext)
  }

  /// Whether the caller is in the Realm's context, where the thread does not tell.
  @usableFromInline @inline(never) final var isInContext: Bool {
    unsafe instance?.isCurrent ?? false
  }

  /// A cell of the row that the accessor remembers; nil when it holds its column's default.
  ///
  /// The object must outlive what is read from it.
  @inlinable @inline(__always) final func cell(_ head: _PersistedHead) -> LeafCell? {
    unsafe row.cell(head.column, hint: head.place)
  }

  /// Whether collections once read are kept in the object: not by frozen ones, which several threads
  /// may read at once.
  @usableFromInline final var keepsPersistedValues: Bool {
    unsafe header.pointee.thread != AccessHeader.anyThread
  }

  /// When the object was created, see ``Incarnation``.
  final var created: Int64 {
    @inline(__always) get { creation.load(ordering: .relaxed) }
    @inline(__always) set { creation.store(newValue, ordering: .relaxed) }
  }

  /// Whether the object belongs to a Realm, or did before it was deleted.
  final var isManaged: Bool { created != ObjectBase.unmanagedCreation }

  /// The object's address, at which its properties' offsets begin.
  final var storage: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  /// The class in the object's Realm; stops when the object was deleted.
  final var classAccess: ClassAccess {
    guard let access = unsafe access else { stopAsGone() }
    return unsafe access._withUnsafeGuaranteedRef { $0 }
  }
}
