import Dispatch
import Foundation

/// What sections and collections of sections have in common.
public protocol RealmSectionedResult: RandomAccessCollection, Equatable, ThreadConfined
where Index == Int {
  /// Calls `block` with the sections, or the section, once, and then whenever they have changed.
  func observe(
    keyPaths: [String]?, on queue: DispatchQueue?,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken
}

/// The elements of results in sections, live.
///
/// ```swift
/// let byCity = people.sectioned(by: \.city, ascending: true)
/// for section in byCity { print(section.key, section.count) }
/// ```
///
/// Elements stand in one section when the keys that are computed from them are equal. Sections come in the
/// order of their first elements, and elements keep the order of the results. Everything is computed again
/// when it is asked for after a change.
public struct SectionedResults<Key: _Persistable & Hashable, SectionElement: RealmCollectionValue>:
  RealmSectionedResult
{
  /// A section.
  public typealias Element = ResultsSection<Key, SectionElement>

  let core: SectionCore<Key, SectionElement>

  init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key) {
    core = SectionCore(results, key)
  }

  init(core: SectionCore<Key, SectionElement>) { self.core = core }

  /// The Realm.
  public var realm: Realm? { core.results.realm }

  /// Whether the Realm was invalidated.
  public var isInvalidated: Bool { core.results.isInvalidated }

  /// Whether the sections are fixed to one version.
  public var isFrozen: Bool { core.results.isFrozen }

  /// The keys of all sections, in order.
  public var allKeys: [Key] { core.layout.keys }

  /// How many sections there are.
  public var count: Int { core.layout.keys.count }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of sections.
  public var endIndex: Int { count }

  /// The section at a place, which keeps to its key.
  public subscript(_ index: Int) -> ResultsSection<Key, SectionElement> {
    let keys = core.layout.keys
    checkIndex(index, below: keys.count)
    return ResultsSection(core, key: keys[index])
  }

  /// The element at a place in a section.
  public subscript(_ indexPath: IndexPath) -> SectionElement { self[indexPath[0]][indexPath[1]] }

  /// Walks the sections.
  public func makeIterator() -> SectionedResultsIterator<Key, SectionElement> {
    SectionedResultsIterator(allKeys.map { ResultsSection(core, key: $0) })
  }

  /// The sections fixed to the version that is seen, readable from any thread.
  public func freeze() -> SectionedResults {
    isFrozen ? self : SectionedResults(core: SectionCore(core.results.freeze(), core.key))
  }

  /// The live sections in the calling context; nil when what they came from was deleted.
  public func thaw() -> SectionedResults? {
    guard isFrozen else { return self }
    return core.results.thaw().map { SectionedResults(core: SectionCore($0, core.key)) }
  }

  /// Whether both are copies of one value.
  public static func == (lhs: SectionedResults, rhs: SectionedResults) -> Bool {
    lhs.core === rhs.core
  }
}

/// The elements of one section, live.
///
/// It keeps to its key: after a change it may be at another place, and when no element has the key any
/// more it is invalid and empty.
public struct ResultsSection<Key: _Persistable & Hashable, T: RealmCollectionValue>:
  RealmSectionedResult, Identifiable
{
  let core: SectionCore<Key, T>
  /// What the elements have in common.
  public let key: Key

  init(_ core: SectionCore<Key, T>, key: Key) {
    self.core = core
    self.key = key
  }

  /// The key.
  public var id: Key { key }

  /// The Realm.
  public var realm: Realm? { core.results.realm }

  /// Whether no element has the key any more, or the Realm was invalidated.
  public var isInvalidated: Bool {
    core.results.isInvalidated || core.layout.section(of: key) == nil
  }

  /// Whether the section is fixed to one version.
  public var isFrozen: Bool { core.results.isFrozen }

  private var positions: [Int] {
    let layout = core.layout
    return layout.section(of: key).map { layout.positions[$0] } ?? []
  }

  /// How many elements there are.
  public var count: Int { positions.count }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of elements.
  public var endIndex: Int { count }

  /// The element at a place; stops out of bounds.
  public subscript(_ index: Int) -> T {
    let positions = positions
    checkIndex(index, below: positions.count)
    return core.results[positions[index]]
  }

  /// Walks the elements.
  public func makeIterator() -> SectionIterator<T> {
    SectionIterator(positions.map { core.results[$0] })
  }

  /// The section fixed to the version that is seen, readable from any thread.
  public func freeze() -> ResultsSection {
    isFrozen ? self : ResultsSection(SectionCore(core.results.freeze(), core.key), key: key)
  }

  /// The live section in the calling context; nil when what it came from was deleted.
  public func thaw() -> ResultsSection? {
    guard isFrozen else { return self }
    return core.results.thaw().map { ResultsSection(SectionCore($0, core.key), key: key) }
  }

  /// Whether both are the section of one key in copies of one value.
  public static func == (lhs: ResultsSection, rhs: ResultsSection) -> Bool {
    lhs.core === rhs.core && lhs.key == rhs.key
  }
}

/// Walks sections.
@frozen
public struct SectionedResultsIterator<
  Key: _Persistable & Hashable, Element: RealmCollectionValue
>: IteratorProtocol {
  private var sections: IndexingIterator<[ResultsSection<Key, Element>]>

  init(_ sections: [ResultsSection<Key, Element>]) { self.sections = sections.makeIterator() }

  /// The next section; nil at the end.
  public mutating func next() -> ResultsSection<Key, Element>? { sections.next() }
}

/// Walks the elements of a section.
@frozen public struct SectionIterator<Element: RealmCollectionValue>: IteratorProtocol {
  private var elements: IndexingIterator<[Element]>

  init(_ elements: [Element]) { self.elements = elements.makeIterator() }

  /// The next element; nil at the end.
  public mutating func next() -> Element? { elements.next() }
}

/// Results, how they are put into sections, and what that last gave.
///
/// Belongs to the results' context; of frozen results the sections are computed once, under a lock.
final class SectionCore<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  // Exclusivity is not checked: what classes count is loaded in the Realm's context, and loading it
  // calls nothing.
  let results: Results<Element>
  let key: (Element) -> Key
  private var known = SectionLayout<Key>()
  /// What all classes counted when the sections were computed.
  private var stamp: UInt64?
  private let lock = NSLock()

  init(_ results: Results<Element>, _ key: @escaping (Element) -> Key) {
    var property = Property(name: "", type: .int)
    Key._rlmDescribeProperty(&property)
    if property.type == .object || property.type == .linkingObjects {
      fatalError("Links are not supported as section keys.")
    }
    self.results = results
    self.key = key
  }

  /// The sections as they are now.
  var layout: SectionLayout<Key> {
    let realm = results.core.realm
    guard !realm.isFrozen else {
      return lock.withLock {
        if stamp == nil {
          known = computed()
          stamp = 0
        }
        return known
      }
    }
    realm.verify()
    // A key may be computed from whatever an element leads to.
    let now = unsafe realm.classes.reduce(0) { unsafe $0 &+ $1.touched.total }
    if stamp != now {
      known = computed()
      stamp = now
    }
    return known
  }

  func computed() -> SectionLayout<Key> { SectionLayout(results.lazy.map(key)) }
}
