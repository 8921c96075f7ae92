/// Which elements of results stand in which section: those with equal keys together, in the order of the
/// results, sections in the order of their first elements.
struct SectionLayout<Key: Hashable> {
  /// The keys of the sections, in order.
  private(set) var keys: [Key] = []
  /// The positions in the results of each section's elements.
  private(set) var positions: [[Int]] = []
  /// The section of each key.
  private var sections: [SectionKey: Int] = [:]
  /// The section of each position in the results.
  private(set) var sectionOfPosition: [Int] = []
  /// Which element of its section each position is.
  private(set) var items: [Int] = []

  /// A key that equals itself whatever it is: NaN is one key.
  private struct SectionKey: Hashable {
    let key: Key

    private var isNaN: Bool { key != key }

    static func == (left: SectionKey, right: SectionKey) -> Bool {
      left.key == right.key || left.isNaN && right.isNaN
    }

    func hash(into hasher: inout Hasher) {
      if !isNaN { hasher.combine(key) }
    }
  }

  init() {}

  /// The section of a key, if there is one.
  func section(of key: Key) -> Int? { sections[SectionKey(key: key)] }

  /// Groups elements, given by their keys.
  init(_ keys: some Sequence<Key>) {
    for (position, key) in keys.enumerated() {
      let section: Int
      if let known = self.section(of: key) {
        section = known
      } else {
        section = self.keys.count
        sections[SectionKey(key: key)] = section
        self.keys.append(key)
        positions.append([])
      }
      items.append(positions[section].count)
      positions[section].append(position)
      sectionOfPosition.append(section)
    }
  }

  /// Where the element at a position of the results is.
  func place(_ position: Int) -> (section: Int, item: Int) {
    (sectionOfPosition[position], items[position])
  }
}

/// How sections changed: places of elements and of sections.
struct SectionChanges {
  /// Where elements were that are gone or elsewhere, but for those of sections that are gone.
  var deletions: [(section: Int, item: Int)] = []
  /// Where elements are that came or were elsewhere.
  var insertions: [(section: Int, item: Int)] = []
  /// Where elements were that stayed and were modified.
  var modifications: [(section: Int, item: Int)] = []
  /// Where sections are that came.
  var insertedSections: [Int] = []
  /// Where sections were that are gone.
  var deletedSections: [Int] = []

  /// Compares two layouts of results that changed as `changes` says.
  init<Key: Hashable>(
    from old: SectionLayout<Key>, to new: SectionLayout<Key>, _ changes: ChangeSet
  ) {
    // Which section each old one is now.
    let sections = old.keys.map { new.section(of: $0) }
    deletedSections = old.keys.indices.filter { sections[$0] == nil }
    insertedSections = new.keys.indices.filter { old.section(of: new.keys[$0]) == nil }
    let (gone, modified) = (Set(changes.deletions), Set(changes.modifications))
    let came = Set(changes.insertions)
    var deleted = changes.deletions
    var inserted = changes.insertions
    // What stayed keeps its order in both.
    var kept = new.sectionOfPosition.indices.lazy.filter { !came.contains($0) }.makeIterator()
    for position in old.sectionOfPosition.indices where !gone.contains(position) {
      guard let now = kept.next() else { break }
      if sections[old.sectionOfPosition[position]] != new.sectionOfPosition[now] {
        deleted.append(position)
        inserted.append(now)
      } else if modified.contains(position) {
        modifications.append(old.place(position))
      }
    }
    let lost = Set(deletedSections)
    deletions = deleted.map { old.place($0) }.filter { !lost.contains($0.section) }
    insertions = inserted.map { new.place($0) }
    deletions.sort { $0 < $1 }
    insertions.sort { $0 < $1 }
    modifications.sort { $0 < $1 }
  }

  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && insertedSections.isEmpty
      && deletedSections.isEmpty
  }

  /// The same for who looks at all sections: of those that stayed as many as possible keep their order, and the others
  /// are gone and come anew, with all their elements.
  func movingSections<Key: Hashable>(
    from old: SectionLayout<Key>, to new: SectionLayout<Key>
  ) -> SectionChanges {
    let stayed = old.keys.indices.compactMap { place in
      new.section(of: old.keys[place]).map { (old: place, new: $0) }
    }
    let kept = Set(KeptOrder.longestAscending(stayed).map(\.old))
    if kept.count == stayed.count { return self }
    let moved = stayed.filter { !kept.contains($0.old) }
    let (left, came) = (Set(moved.map(\.old)), Set(moved.map(\.new)))
    var changes = self
    changes.deletions.removeAll { left.contains($0.section) }
    changes.modifications.removeAll { left.contains($0.section) }
    changes.insertions.removeAll { came.contains($0.section) }
    for section in came {
      changes.insertions += new.positions[section].indices.map { (section, $0) }
    }
    changes.insertions.sort { $0 < $1 }
    changes.deletedSections = (deletedSections + left).sorted()
    changes.insertedSections = (insertedSections + came).sorted()
    return changes
  }

  /// What of it is about the section of one key, before and now.
  func limited(toOld old: Int?, new: Int?) -> SectionChanges {
    var limited = self
    limited.deletions.removeAll { $0.section != old }
    limited.modifications.removeAll { $0.section != old }
    limited.insertions.removeAll { $0.section != new }
    limited.deletedSections.removeAll { $0 != old }
    limited.insertedSections.removeAll { $0 != new }
    return limited
  }
}
