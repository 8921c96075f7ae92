/// A value that one context uses and everybody may hold.
///
/// A transaction that a user interface keeps open between events, for example: the object that holds
/// it may be sent anywhere, but who uses the value elsewhere stops the program. In its context an
/// access costs asking the context, and no lock.
///
/// ```swift
/// let draft = Confined(try database.beginWrite(), to: loop)
/// draft.run { transaction in … }                  // from anywhere: later, in the loop
/// try draft.withValue { try $0.commit() }         // in the loop: at once
/// ```
///
/// Unchecked: `value` is touched in its context only, which runs one job at a time, and at the end,
/// when there is no other user.
public final class Confined<Value>: @unchecked Sendable {
  /// Where the value may be used.
  public let context: any ExecutionContext
  /// Nil only at the end, when the context has taken it.
  private var value: Value?

  /// Gives `value` to a context; the caller keeps nothing of it.
  public init(_ value: sending Value, to context: any ExecutionContext) {
    self.context = context
    self.value = value
  }

  /// Uses the value, in its context; stops elsewhere.
  public func withValue<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    precondition(
      context.isCurrent,
      "A value that belongs to \(context.identity) was used elsewhere. Use it there, or hand a job to "
        + "its context with run(_:).")
    return try body(&value!)
  }

  /// Lets the context use the value, later.
  public func run(_ body: @escaping @Sendable (inout sending Value) -> Void) {
    context.run { self.withValue { body(&$0) } }
  }

  // What the value does when it ends belongs into its context, too, where that can be reached.
  deinit {
    if context.isCurrent || !context.canBeWoken { return }
    let last = Last(value: value.take())
    context.run { last.value = nil }
  }

  /// A value on its way to its end.
  ///
  /// Unchecked: nobody else has it, and it is touched by one job.
  private final class Last: @unchecked Sendable {
    var value: Value?
    init(value: consuming Value?) { self.value = value }
  }
}
