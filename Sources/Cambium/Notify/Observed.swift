#if canImport(Observation)
  import Observation

  /// An object as the Observation module sees it: who reads a property in `withObservationTracking` is told
  /// when it was assigned.
  ///
  /// ```swift
  /// let dog = dog.observed
  /// withObservationTracking { print(dog.name) } onChange: { … }
  /// ```
  ///
  /// Belongs to the object's context. Told are commits, not single assignments, and changes of the object
  /// itself: for one that it links to, ask that one's ``ThreadConfined/observed``.
  @dynamicMemberLookup public final class Observed<Model: ObjectBase>: Observable {
    /// The object.
    public let object: Model
    private let registrar = ObservationRegistrar()
    private var token: NotificationToken?
    /// What was read so far.
    private var known: Set<AnyKeyPath> = []
    /// Tells who has read a property, by its name.
    private var readers: [String: [() -> Void]] = [:]

    init(_ object: Model) {
      self.object = object
      token = object.observe { [weak self] (change: ObjectChange<Model>) in self?.tell(change) }
    }

    /// A property of the object; assigning it needs a write transaction.
    public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Model, Value>) -> Value
    {
      get {
        note(keyPath)
        return object[keyPath: keyPath]
      }
      set { object[keyPath: keyPath] = newValue }
    }

    /// What the object computes from a property.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Model, Value>) -> Value {
      note(keyPath)
      return object[keyPath: keyPath]
    }

    /// Whether the object was deleted.
    public var isInvalidated: Bool {
      registrar.access(self, keyPath: \.isInvalidated)
      return object.isInvalidated
    }

    private func note<Value>(_ keyPath: KeyPath<Model, Value>) {
      registrar.access(self, keyPath: \.[dynamicMember: keyPath])
      guard known.insert(keyPath).inserted else { return }
      let path = KeyPathTrace.name(keyPath, from: Model.self) ?? ""
      let name = path.prefix { $0 != "." }
      readers[String(name), default: []].append { [unowned self] in
        registrar.withMutation(of: self, keyPath: \.[dynamicMember: keyPath]) {}
      }
    }

    private func tell(_ change: ObjectChange<Model>) {
      switch change {
      case .change(_, let properties):
        for property in properties { readers[property.name]?.forEach { $0() } }
      case .deleted:
        for reader in readers.values.joined() { reader() }
        registrar.withMutation(of: self, keyPath: \.isInvalidated) {}
      case .error: break
      }
    }
  }

  extension ThreadConfined where Self: ObjectBase {
    /// The object for the Observation module.
    ///
    /// Stops where the Realm's context cannot be woken, and for unmanaged and frozen objects.
    public var observed: Observed<Self> { Observed(self) }
  }
#endif
