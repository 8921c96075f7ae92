import CambiumCore

/// The changes of a collection or an object, for `for try await`.
///
/// ```swift
/// for try await change in realm.objects(Dog.self).changes {
///   switch change { … }
/// }
/// ```
///
/// What is asked for next is what happened since the last one, as one change: nothing piles up behind a
/// slow loop. A collection comes first as it is. The sequence ends when the task is cancelled, when
/// what is observed was deleted, and when its Realm is invalidated. Belongs to the context of its Realm, the main actor or another one, where
/// it has to be iterated; each iteration is an observer of its own.
public struct ChangeSequence<Element>: AsyncSequence {
  /// Ends only by throwing what the store throws.
  public typealias Failure = any Error

  let instance: RealmInstance
  /// Begins to look for changes.
  let makeSource: () -> ChangeSource<Element>

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    Iterator(signal: ChangeSignal(instance), source: makeSource())
  }

  /// Gives one change after another.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let signal: ChangeSignal
    fileprivate let source: ChangeSource<Element>
    private var isOver = false

    fileprivate init(signal: ChangeSignal, source: ChangeSource<Element>) {
      self.signal = signal
      self.source = source
    }

    /// Waits for the next change; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Element? {
      while !isOver, !Task.isCancelled {
        if let element = signal.look(for: source, isOver: &isOver) { return element }
        if isOver { break }
        await signal.wait(isolation: actor)
      }
      signal.end()
      source.end()
      return nil
    }

    /// Waits for the next change; nil at the end.
    public mutating func next() async throws -> Element? {
      try await next(isolation: #isolation)
    }
  }
}

/// Tells a loop that its Realm has moved.
///
/// Unchecked: belongs to the Realm's context, but for what is said otherwise.
final class ChangeSignal: @unchecked Sendable {
  private let instance: RealmInstance
  /// How often the Realm was invalidated when the loop began.
  private let invalidations: UInt64
  private var token: ObservationToken?
  private var waiting: CheckedContinuation<Void, Never>?
  /// Whether the Realm has moved since the loop has looked.
  private var hasMoved = false

  init(_ instance: RealmInstance) {
    self.instance = instance
    invalidations = unsafe instance.invalidations
    token = instance.observe(loop: { [weak self] in self?.raise() })
  }

  /// The next change, if there is one; `isOver` is set when none will follow.
  func look<Element>(for source: ChangeSource<Element>, isOver: inout Bool) -> Element? {
    instance.verify()
    hasMoved = false
    if unsafe instance.isInvalidated || instance.invalidations != invalidations {
      isOver = true
      return nil
    }
    return source.next(&isOver)
  }

  /// Lets ``wait(isolation:)`` wait for the next move, whatever has happened before.
  func beginToWait() { hasMoved = false }

  /// Waits until the Realm moves, or the task is cancelled.
  func wait(isolation: isolated (any Actor)?) async {
    if hasMoved { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        if Task.isCancelled { return continuation.resume() }
        waiting = continuation
      }
    } onCancel: {
      // The continuation belongs to the context.
      instance.context?.run { self.raise() }
    }
  }

  private func raise() {
    hasMoved = true
    waiting?.resume()
    waiting = nil
  }

  /// Ends the observation; may be called again.
  func end() {
    _ = token?.invalidate()
    token = nil
  }
}

/// Finds the changes that one loop over a ``ChangeSequence`` asks for.
///
/// Belongs to the context of its Realm.
final class ChangeSource<Element> {
  private let find: (inout Bool) -> Element?
  private var forget: (() -> Void)?

  /// `find` gives the next change, if there is one, and says when it is the last; `end` is called once.
  init(find: @escaping (inout Bool) -> Element?, end: @escaping () -> Void = {}) {
    self.find = find
    forget = end
  }

  /// Gives what `tracker` finds.
  convenience init(
    _ tracker: ChangeTracker, of instance: RealmInstance,
    _ element: @escaping (ChangeTracker.News) -> Element?
  ) {
    let notifier = instance.coordinator.notifier
    // From now on transactions note what they touch.
    notifier.countObservers(1)
    self.init { isLast in
      // In a transaction nothing is told but what was there at its beginning.
      let outcome = tracker.outcome(in: instance.observedView, ComparisonCache())
      let news = outcome.flatMap { tracker.accept($0) ? $0.news : nil }
      isLast = tracker.isOver
      return news.flatMap(element)
    } end: {
      notifier.countObservers(-1)
      tracker.end()
    }
  }

  func next(_ isLast: inout Bool) -> Element? { find(&isLast) }

  /// Lets go of what it keeps; may be called again.
  func end() {
    forget?()
    forget = nil
  }

  deinit { end() }
}

extension RealmCollection {
  /// The collection as it is, and then its changes.
  public var changes: ChangeSequence<RealmCollectionChange<Self>> { changes(keyPaths: nil) }

  /// The collection as it is, and then its changes; of elements only what `keyPaths` lead to counts.
  public func changes(keyPaths: [String]?) -> ChangeSequence<RealmCollectionChange<Self>> {
    let realm = observedRealm()
    let core = queryCore()
    return ChangeSequence(instance: realm) {
      ChangeSource(realm.tracker(of: core, keyPaths: keyPaths), of: realm) {
        RealmCollectionChange($0, of: self)
      }
    }
  }
}

extension ThreadConfined where Self: ObjectBase {
  /// The changes of the object from now on; the last one says that it was deleted.
  public var changes: ChangeSequence<ObjectChange<Self>> { changes(keyPaths: nil) }

  /// The changes of the object from now on, as far as `keyPaths` lead to them.
  public func changes(keyPaths: [String]?) -> ChangeSequence<ObjectChange<Self>> {
    let realm = observedRealm()
    return ChangeSequence(instance: realm) {
      ChangeSource(realm.tracker(of: self, keyPaths: keyPaths), of: realm) {
        ObjectChange($0, of: self)
      }
    }
  }
}

extension Realm {
  /// Gives `.didChange` whenever the Realm has come to see another version.
  public var changes: ChangeSequence<Realm.Notification> {
    let instance = instance
    return ChangeSequence(instance: instance) {
      var seen = instance.version
      return ChangeSource { _ in
        // In a transaction what is seen is the version before it.
        guard unsafe instance.session == nil, instance.version != seen else { return nil }
        seen = instance.version
        return .didChange
      }
    }
  }
}
