/// Where code may use what cannot be shared: a thread, a serial queue, an actor, an event loop.
///
/// A context runs one job at a time. What belongs to it needs no lock, as long as nobody else uses it;
/// ``Confined`` checks that. A program that has a loop of its own implements the protocol for it, see
/// <doc:Contexts>.
public protocol ExecutionContext: Sendable {
  /// Tells the context from all others of the process.
  var identity: ContextIdentity { get }

  /// Whether the caller runs in the context.
  ///
  /// Must not be true of two jobs at the same time. Comparing threads is enough only where nothing else
  /// ever runs on the thread: threads of a pool run the jobs of many contexts.
  var isCurrent: Bool { get }

  /// Whether a job given to ``run(_:)`` will be run.
  ///
  /// Not so in a thread that runs no loop, or that has ended.
  var canBeWoken: Bool { get }

  /// Lets the context run `job`, later; may be called from anywhere.
  func run(_ job: @escaping @Sendable () -> Void)
}

/// The name of a context: equal for the same one, and fit for people to read.
public struct ContextIdentity: Hashable, Sendable, CustomStringConvertible {
  /// What kind of context it is, as in "thread".
  public let kind: String
  /// Tells it from others of its kind.
  public let number: UInt64

  /// Names a context of a kind by a number that no other one has.
  public init(kind: String, number: UInt64) {
    self.kind = kind
    self.number = number
  }

  /// Names a context of a kind by an object that lives as long as the context does.
  public init(kind: String, of object: AnyObject) {
    self.init(kind: kind, number: UInt64(UInt(bitPattern: ObjectIdentifier(object))))
  }

  /// The kind and the number.
  public var description: String { "\(kind) \(number)" }
}
