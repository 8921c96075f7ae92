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
      realm.reference(observing: self), realm.configuration, on: actor, block
    ) { $0.observe(keyPaths: keyPaths, on: nil, $1) }
  }
}

extension SectionedResults {
  /// Calls `block` with the sections once, and then whenever they have changed.
  ///
  /// What counts, and where and when the block is called, is as with the observers of results. That an
  /// element has come to another section is told whatever `keyPaths` name.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
  ) -> NotificationToken {
    core.observe(keyPaths, queue) { news in
      let sections = SectionedResults(core: news.core)
      if let change = SectionedResultsChange(news.ofAll, of: sections) { block(change) }
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
  /// What counts, and where and when the block is called, is as with the observers of results. That an
  /// element has come or gone is told whatever `keyPaths` name.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
  ) -> NotificationToken {
    core.observe(keyPaths, queue) { [key] news in
      let section = ResultsSection(news.core, key: key)
      if let change = SectionedResultsChange(news.limited(to: key), of: section) { block(change) }
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

extension SectionCore {
  /// Calls `tell` with what happens to the sections, here or on a queue.
  fileprivate func observe(
    _ keyPaths: [String]?, _ queue: DispatchQueue?,
    _ tell: @escaping (SectionNews<Key, Element>) -> Void
  ) -> NotificationToken {
    let realm = results.observedRealm()
    if let queue {
      return realm.defer(results, to: queue) { [key] in
        SectionCore($0, key).observe(keyPaths, nil, tell)
      }
    }
    let follower = SectionFollower(self)
    return realm.observe(results.queryCore(), keyPaths: keyPaths, inSections: true) { news in
      if let news = follower.follow(news) { tell(news) }
    }
  }
}

/// What happened to sections.
private struct SectionNews<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  let core: SectionCore<Key, Element>
  let old: SectionLayout<Key>
  let new: SectionLayout<Key>
  /// Nil the first time.
  var changes: SectionChanges?

  /// The same for who looks at all sections.
  var ofAll: SectionNews {
    var news = self
    news.changes = changes?.movingSections(from: old, to: new)
    return news
  }

  /// What of it is about one section.
  func limited(to key: Key) -> SectionNews {
    var news = self
    news.changes = changes?.limited(toOld: old.section(of: key), new: new.section(of: key))
    return news
  }
}

/// Puts what an observer of results is told into sections.
private final class SectionFollower<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  private let core: SectionCore<Key, Element>
  /// The sections as the observer knows them.
  private var known = SectionLayout<Key>()

  init(_ core: SectionCore<Key, Element>) { self.core = core }

  /// What the observer is to be told; nil when it is nothing.
  func follow(_ news: ChangeTracker.News) -> SectionNews<Key, Element>? {
    let (old, new) = (known, core.layout)
    known = new
    switch news {
    case .initial: return SectionNews(core: core, old: old, new: new)
    case .changes(let changes):
      return SectionNews(
        core: core, old: old, new: new, changes: SectionChanges(from: old, to: new, changes))
    case .entries, .properties, .deleted, .skipped: return nil
    }
  }
}

extension SectionedResultsChange {
  /// What an observer of `collection` is told; nil when nothing changed.
  fileprivate init?<Key, Element>(_ news: SectionNews<Key, Element>, of collection: Collection) {
    guard let changes = news.changes else {
      self = .initial(collection)
      return
    }
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
