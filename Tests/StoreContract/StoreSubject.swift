import CambiumCore

/// A store that is held against the contract: how it is opened, and what it says of itself.
///
/// ```swift
/// let subject = StoreSubject("dictionary") { place throws(StoreError) in
///   try DictionaryStore(path: place.path)
/// }
/// ```
public struct StoreSubject: Sendable, CustomStringConvertible {
  /// What several openings of one place at a time come to.
  public enum Sharing: Sendable {
    /// All see the same versions.
    case shared
    /// All see the same versions, those of others when they are durable and a moment has passed.
    case later
    /// The first one has the place for itself; others are refused with `StoreError.inUse`.
    case exclusive
    /// Each opening is a store of its own, whatever its place.
    case separate
  }

  /// What reports call it.
  public var name: String
  /// Opens the store at a place, and makes it if it is not there and not only read.
  public var open: @Sendable (StorePlace) throws(StoreError) -> any PageStore
  /// Makes the codec that pages go through; nil for none.
  public var codec: (@Sendable () throws(StoreError) -> any PageCodec)?
  /// Whether a store that was closed can be opened again with all it held.
  public var isPersistent = true
  /// Whether what it holds lies in files at its place.
  public var hasFiles = true
  /// Whether it can be opened for reading only.
  public var canBeReadOnly = true
  /// What several openings of one place come to.
  public var sharing = Sharing.exclusive
  /// How many bytes beyond what versions reach the store may take for itself: rounding, records,
  /// logs, room ahead of need.
  public var slackByteCount = 1 << 20
  /// Of how many of the latest commits the store keeps what they were given; 0 if it keeps none.
  public var keptMetadataCount = 0
  /// Makes a medium whose power can be cut; nil for a store that has none to show.
  public var medium: (@Sendable () throws -> any StoreMedium)?

  /// A persistent store that one opening has for itself, unless it is said otherwise.
  public init(
    _ name: String, open: @escaping @Sendable (StorePlace) throws(StoreError) -> any PageStore
  ) {
    self.name = name
    self.open = open
  }

  /// The same store with pages that go through a codec.
  public func with(
    codec name: String, _ make: @escaping @Sendable () throws(StoreError) -> any PageCodec
  ) -> StoreSubject {
    var subject = self
    subject.name += "+\(name)"
    subject.codec = make
    return subject
  }

  /// The name.
  public var description: String { name }
}

/// Where a case of the contract wants a store.
public struct StorePlace: Sendable {
  /// A path in a folder that exists, whose last part is free; stores without files use it as a name.
  public var path: String
  /// Whether writes are to be refused; then the store must exist.
  public var isReadOnly = false
  /// The codec that pages go through; nil for none.
  ///
  /// A store that keeps what codecs want kept binds it; any store records its name.
  public var codec: (any PageCodec)?
  /// Its name; empty for none.
  public var codecName: String { codec?.name ?? "" }

  /// A place for tests of one's own.
  public init(path: String, isReadOnly: Bool = false, codec: (any PageCodec)? = nil) {
    self.path = path
    self.isReadOnly = isReadOnly
    self.codec = codec
  }
}

/// A medium under a store, whose power the contract cuts.
///
/// Members are called from one thread at a time, also while a store that lies on the medium is open.
public protocol StoreMedium: AnyObject, Sendable {
  /// Opens the store that lies on it, and makes it on an empty one.
  func open(codec: (any PageCodec)?) throws(StoreError) -> any PageStore

  /// How many operations the medium has done; always the same for one that does not remember what it
  /// held after each.
  var operationCount: Int { get }

  /// A medium with what this one may hold when power is cut after that many operations: all that was
  /// synced by then, and of the rest what `seed` says.
  ///
  /// One that does not remember its operations says what it may hold at this moment.
  func afterPowerLoss(atOperation: Int, seed: UInt64) throws -> any StoreMedium
}

/// A medium that can be full.
public protocol FillableMedium: StoreMedium {
  /// Refuses to hold more than it does, while set.
  func setFull(_ isFull: Bool)
}

/// A medium whose operations can fail.
public protocol FaultyMedium: StoreMedium {
  /// Lets operation number `index` fail, once.
  func failOperation(_ index: Int)

  /// Takes that back; whether it had happened.
  func endFault() -> Bool
}
