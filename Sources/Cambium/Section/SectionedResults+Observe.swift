import Dispatch
import Foundation

/// What happened to observed sections.
@frozen public enum SectionedResultsChange<Collection> {
  /// The first call: the sections as they are.
  case initial(Collection)
  /// Elements or sections came, went, or were modified.
  ///
  /// Index paths are pairs of section and item: `deletions` and `modifications` as they were, `insertions`
  /// as they are. Elements of sections that are gone are not listed, those of sections that came are. An
  /// element whose key changed is deleted and inserted.
  case update(
    Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
    sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
}

extension RealmSectionedResult {
  /// Calls `block` with the sections, or the section, once, and then whenever they have changed on `actor`.
  ///
  /// Returns when the observer is registered: no later change is missed. Of a cancelled task, or when what
  /// the sections came from is gone by then, the token is invalid, and the block is never called.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken {
    let realm = RealmInstance.observed(realm)
    return await ActorObservation.register(
      ThreadSafeReference(to: self), realm.configuration, on: actor, block
    ) { $0.observe(keyPaths: keyPaths, on: nil, $1) }
  }
}

extension SectionedResults {
  /// Calls `block` with the sections once, and then whenever they have changed.
  ///
  /// What counts, and where and when the block is called, is as with the observers of results.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
  ) -> NotificationToken {
    let follower = SectionFollower<Key, SectionElement>(core.key)
    return core.results.observe(keyPaths: keyPaths, on: queue) { change in
      follower.follow(change) { if let change = $0.change() { block(change) } }
    }
  }
}

extension SectionedResults where SectionElement: ObjectBase {
  /// The same as ``observe(keyPaths:on:_:)`` with Swift's key paths.
  public func observe(
    keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// The same as ``observe(keyPaths:on:_isolation:_:)`` with Swift's key paths.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<SectionElement>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, SectionedResultsChange<SectionedResults>) -> Void
  ) async -> NotificationToken {
    await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, block)
  }
}

extension ResultsSection {
  /// Calls `block` with the section once, and then whenever it has changed, with the places that it has
  /// among all sections.
  ///
  /// What counts, and where and when the block is called, is as with the observers of results.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
  ) -> NotificationToken {
    let follower = SectionFollower<Key, T>(core.key)
    return core.results.observe(keyPaths: keyPaths, on: queue) { [key] change in
      follower.follow(change) { if let change = $0.change(ofSection: key) { block(change) } }
    }
  }
}

extension ResultsSection where T: ObjectBase {
  /// The same as ``observe(keyPaths:on:_:)`` with Swift's key paths.
  public func observe(
    keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// The same as ``observe(keyPaths:on:_isolation:_:)`` with Swift's key paths.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<T>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, SectionedResultsChange<ResultsSection>) -> Void
  ) async -> NotificationToken {
    await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, block)
  }
}

/// Puts what an observer of results is told into sections.
private final class SectionFollower<Key: _Persistable & Hashable, Element: RealmCollectionValue>:
  // Unchecked: everything happens in the context in which the observer is called.
  @unchecked Sendable
{
  private let key: (Element) -> Key
  private var told = SectionLayout<Key>()

  init(_ key: @escaping (Element) -> Key) { self.key = key }

  /// What happened to the sections of the results.
  struct News {
    let sections: SectionedResults<Key, Element>
    let old: SectionLayout<Key>
    let new: SectionLayout<Key>
    /// Nil the first time.
    let changes: SectionChanges?

    func change() -> SectionedResultsChange<SectionedResults<Key, Element>>? {
      guard let changes else { return .initial(sections) }
      return SectionedResultsChange(sections, changes)
    }

    func change(ofSection key: Key) -> SectionedResultsChange<ResultsSection<Key, Element>>? {
      let section = ResultsSection(sections.core, key: key)
      guard let changes else { return .initial(section) }
      return SectionedResultsChange(
        section, changes.limited(toOld: old.sections[key], new: new.sections[key]))
    }
  }

  func follow(_ change: RealmCollectionChange<Results<Element>>, _ tell: (News) -> Void) {
    let (results, changes): (Results<Element>, ChangeSet?)
    switch change {
    case .initial(let all): (results, changes) = (all, nil)
    case .update(let all, let deletions, let insertions, let modifications):
      results = all
      changes = ChangeSet(
        deletions: deletions, insertions: insertions, modifications: modifications)
    case .error: return
    }
    let sections = SectionedResults(results, key)
    let (old, new) = (told, sections.core.layout)
    told = new
    tell(
      News(
        sections: sections, old: old, new: new,
        changes: changes.map { SectionChanges(from: old, to: new, $0) }))
  }
}

extension SectionedResultsChange {
  /// Nil when nothing changed.
  fileprivate init?(_ collection: Collection, _ changes: SectionChanges) {
    if changes.isEmpty { return nil }
    func paths(_ places: [(section: Int, item: Int)]) -> [IndexPath] {
      places.map { IndexPath(indexes: [$0.section, $0.item]) }
    }
    self = .update(
      collection, deletions: paths(changes.deletions), insertions: paths(changes.insertions),
      modifications: paths(changes.modifications),
      sectionsToInsert: IndexSet(changes.insertedSections),
      sectionsToDelete: IndexSet(changes.deletedSections))
  }
}

// The old names.

/// The old name of ``SectionedResultsChange``.
public typealias RealmSectionedResultsChange = SectionedResultsChange
/// The old name of ``SectionedResultsIterator``.
public typealias RLMSectionedResultsIterator = SectionedResultsIterator
/// The old name of ``SectionIterator``.
public typealias RLMSectionIterator = SectionIterator
