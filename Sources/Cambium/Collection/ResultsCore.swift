import CambiumCore
import Foundation

/// What a live collection consists of, and what it last evaluated to.
///
/// Belongs to its Realm's context. Of a frozen
/// Realm, the evaluation happens once, under a lock.
@usableFromInline final class ResultsCore {
  // Exclusivity is not checked: the Realm's fields have one context, or do not change as in frozen
  // ones, and each access ends before anything else is called. The Realm, which this keeps, keeps its
  // classes.

  /// Where the elements come from.
  enum Source {
    /// All objects of the class.
    case all
    /// The elements of a collection.
    case collection(ManagedCollection)
    /// The objects that link to one.
    case linking(LinkingSource)
    /// Nothing: what they came from was gone before they were frozen.
    case nothing
  }

  /// How values that are no objects are arranged.
  enum ValueStep: Hashable {
    case sort(isAscending: Bool)
    case distinct
  }

  let realm: RealmInstance
  let source: Source
  /// The class of the elements; nil when they are values.
  let access: ClassAccess?
  /// How accessors of the elements are laid out; nil when they are values.
  let layout: ClassLayout?
  /// What is asked of the objects.
  let plan: QueryPlan?
  let valueSteps: [ValueStep]
  let epoch: UInt64
  private var keys: [Int64] = []
  private var values = CellList()
  private var evaluated: UInt64?
  /// The first of the keys, while nobody has asked for all, and the stamp that they belong to.
  private var head: [Int64] = []
  private var headStamp: UInt64?
  /// How many elements were counted, while nobody has asked for their keys, and the stamp that it belongs to.
  private var counted = 0
  private var countedStamp: UInt64?
  private let lock = NSLock()

  init(
    realm: RealmInstance, source: Source, access: ClassAccess?, layout: ClassLayout?,
    plan: QueryPlan?, valueSteps: [ValueStep] = []
  ) {
    self.realm = realm
    self.source = source
    self.access = access
    self.layout = layout
    self.plan = plan
    self.valueSteps = valueSteps
    epoch = unsafe realm.invalidations
  }

  /// All objects of a class.
  convenience init(all access: ClassAccess, as layout: ClassLayout) {
    unsafe self.init(
      realm: access.realm, source: .all, access: access, layout: layout,
      plan: QueryPlan(access.stored))
  }

  /// The elements of a collection, of type `type`.
  convenience init(_ collection: ManagedCollection, of type: Any.Type) {
    let target = collection.place.target
    self.init(
      realm: collection.realm, source: .collection(collection), access: target,
      layout: target?.layout(for: linkedClass(of: type) ?? type),
      plan: target.map { QueryPlan($0.stored) })
  }

  /// The same with another plan.
  func with(plan: QueryPlan) -> ResultsCore {
    ResultsCore(
      realm: realm, source: source, access: access, layout: layout, plan: plan,
      valueSteps: valueSteps)
  }

  /// The same with one more arrangement of values.
  func arranged(_ step: ValueStep) -> ResultsCore {
    ResultsCore(
      realm: realm, source: source, access: access, layout: layout, plan: plan,
      valueSteps: valueSteps + [step])
  }

  /// Whether the Realm was invalidated.
  ///
  /// Results of a collection whose owner was deleted are empty, not invalid.
  var isInvalidated: Bool {
    unsafe realm.isFrozen
      ? realm.isInvalidated : realm.isInvalidated || epoch != realm.invalidations
  }

  func verify() {
    realm.verify()
    guard unsafe epoch == realm.invalidations else {
      fatalError("Accessing Results which have been invalidated")
    }
  }

  /// The table's own tree, when the elements are all objects in the order of their keys.
  var wholeTable: ColumnTree?? {
    guard case .all = source, let access, let plan, plan.isWholeTable else { return nil }
    return .some(access.currentTable()?.groups.first)
  }

  // MARK: Elements

  /// Rises with every change of what the elements depend on.
  private var stamp: UInt64 {
    // Counts only rise, so that their sum stays the same only while each of them does.
    dependencies.reduce(0) { unsafe $0 &+ $1.access.touched.count($1.columns) }
  }

  /// Calls `body` with what tells whether the elements are those that were found last; of a frozen Realm one call at a
  /// time.
  @inline(__always) private func stamped<Value>(_ body: (UInt64) -> Value) -> Value {
    realm.isFrozen ? lock.withLock { body(0) } : body(stamp)
  }

  /// The classes whose objects decide which elements there are, and the columns that do.
  private(set) lazy var dependencies: [(access: ClassAccess, columns: [UInt16])] = {
    var all = QueryDependencies()
    plan?.insertDependencies(into: &all)
    switch source {
    case .all, .nothing: break
    case .collection(let collection):
      all.insert(collection.place.column, of: collection.place.access.stored)
    case .linking(let linking):
      all.insert(linking.target.access.stored)
      all.insert(
        linking.origin.stored.columns[linking.originProperty], of: linking.origin.stored)
    }
    return unsafe realm.classes.compactMap { access in
      all.columns[access.stored.name].map { (access, Array($0)) }
    }
  }()

  /// How many elements there are.
  var count: Int {
    verify()
    if case .all = source, let access, let plan, plan.isWholeTable { return access.count }
    if access == nil { return currentValues().count }
    if case .linking(let linking) = source, let plan, plan.isWholeTable {
      if linking.isInvalidated { return 0 }
      unsafe realm.session?.settle()
      return realm.reading { () throws(StoreError) in try linking.count() }
    }
    guard case .all = source, let plan else { return currentKeys().count }
    return stamped { count(plan, stamp: $0) }
  }

  /// How many objects there are; their keys are not looked for.
  private func count(_ plan: QueryPlan, stamp: UInt64) -> Int {
    if evaluated == stamp { return keys.count }
    if countedStamp == stamp { return counted }
    unsafe realm.session?.settle()
    counted = realm.evaluating(or: 0) { interruption throws(StoreError) in
      try plan.count(in: realm.view, interruption)
    }
    countedStamp = stamp
    return counted
  }

  /// How many elements there are, `limit` if there are more.
  func count(upTo limit: Int) -> Int {
    if limit == 0 { return 0 }
    guard case .all = source, access != nil, let plan, !plan.isWholeTable else {
      return min(count, limit)
    }
    return min(firstKeys(limit).count, limit)
  }

  /// Whether nobody will know what is among the elements, because its evaluation gave up.
  var isUnknown: Bool { realm.isInterrupted && plan?.isWholeTable == false }

  /// Whether there are no elements.
  var isEmpty: Bool { count(upTo: 1) == 0 }

  /// The keys of the objects, in order.
  func currentKeys() -> [Int64] {
    verify()
    return stamped { stamp in
      if evaluated != stamp {
        keys = evaluateKeys()
        evaluated = stamp
      }
      return keys
    }
  }

  /// The keys of the first `limit` objects, or of all if there are fewer; sometimes of more.
  ///
  /// Only these are looked for, unless all are known, or there are more than `largest`.
  func firstKeys(_ limit: Int, largest: Int = .max) -> [Int64] {
    verify()
    return stamped { firstKeys(limit, largest, stamp: $0) }
  }

  private func firstKeys(_ limit: Int, _ largest: Int, stamp: UInt64) -> [Int64] {
    if evaluated == stamp { return keys }
    if headStamp == stamp, head.count >= limit { return head }
    guard limit <= largest, let (found, areAll) = someKeys(limit) else {
      keys = evaluateKeys()
      evaluated = stamp
      return keys
    }
    if areAll {
      (keys, evaluated) = (found, stamp)
    } else {
      (head, headStamp) = (found, stamp)
    }
    return found
  }

  /// The keys of the first `limit` objects or some more, and whether these are all; nil where all are found as
  /// soon.
  private func someKeys(_ limit: Int) -> (found: [Int64], areAll: Bool)? {
    guard let access, let plan else { return nil }
    switch source {
    case .all where limit <= access.count / Self.leastGain:
      unsafe realm.session?.settle()
      // To sort few is as dear as to sort one.
      let limit = plan.steps.isEmpty ? limit : max(limit, Self.headCount)
      let found = realm.evaluating(or: []) { interruption throws(StoreError) in
        try plan.first(limit, in: realm.view, interruption)
      }
      return (found, found.count < limit)
    case .linking(let linking) where plan.isWholeTable && !linking.isInvalidated:
      unsafe realm.session?.settle()
      let found = realm.reading { () throws(StoreError) in try linking.keys(limit) }
      return (found, found.count < limit)
    case .all, .linking, .collection, .nothing: return nil
    }
  }

  /// How many objects are looked for together when they are asked for one by one, from the first one on.
  private static let headCount = 128
  /// Of how many objects the first ones must be one at most, to be looked for alone.
  private static let leastGain = 8

  /// The keys of the objects up to that at `index`, if there are so many, and perhaps of more.
  private func keys(reaching index: Int) -> [Int64] {
    // Whoever goes on behind the first ones goes to the end.
    index <= 0
      ? firstKeys(1) : firstKeys(max(index + 1, Self.headCount), largest: Self.headCount)
  }

  private func evaluateKeys() -> [Int64] {
    guard let access, let plan else { return [] }
    unsafe realm.session?.settle()
    if plan.isWholeTable, case .all = source { return realm.keys(of: access) }
    return realm.evaluating(or: []) { interruption throws(StoreError) in
      switch source {
      case .all: return try plan.keys(in: realm.view, interruption)
      case .collection(let collection):
        if collection.isInvalidated { return [] }
        return try narrowed(collection.links(), plan)
      case .linking(let linking):
        if linking.isInvalidated { return [] }
        return try narrowed(linking.keys(.max), plan)
      case .nothing: return []
      }
    }
  }

  private func narrowed(_ keys: [Int64], _ plan: QueryPlan) throws(StoreError) -> [Int64] {
    plan.isWholeTable ? keys : try plan.keys(among: keys, in: realm.view, realm.interruption)
  }

  /// The values, in order.
  func currentValues() -> CellList {
    verify()
    return stamped { stamp in
      if evaluated != stamp {
        values = evaluateValues()
        evaluated = stamp
      }
      return values
    }
  }

  private func evaluateValues() -> CellList {
    guard case .collection(let collection) = source, !collection.isInvalidated else {
      return CellList()
    }
    let cells = CellList(realm)
    collection.withElements { elements throws(StoreError) in
      try elements.forEach { cells.append($0) }
    }
    let order = CellOrder(collection.place.shape.type)
    for step in valueSteps {
      switch step {
      case .sort(let isAscending): cells.sort(order, isAscending: isAscending)
      case .distinct: cells.removeDuplicates(order)
      }
    }
    return cells
  }

  /// The object at `index`.
  func object(at index: Int) -> ObjectBase {
    guard let access, let layout else { preconditionFailure("The elements are no objects.") }
    if let table = wholeTable {
      checkIndex(index, below: table?.count ?? 0)
      let position = realm.reading { () throws(StoreError) in try table?.select(index) }
      if let position {
        if !access.isTouched { return access.object(at: position, as: layout) }
        // The cells of a class that the transaction has changed are its editor's to read.
        let key = position.leaf.key(at: position.row)
        return access.object(forKey: key, as: layout) ?? access.goneObject(key, as: layout)
      }
    }
    let keys = keys(reaching: index)
    if index >= keys.count, isUnknown { return layout.type.init() }
    checkIndex(index, below: keys.count)
    return access.object(forKey: keys[index], as: layout)
      ?? access.goneObject(keys[index], as: layout)
  }

  /// The place of an object; nil when it is not there.
  func index(of object: ObjectBase) -> Int? {
    verify()
    guard let access, object.isManaged else { return nil }
    let objectAccess = object.classAccess
    object.requireRow(objectAccess)
    guard unsafe object.instance === realm else {
      fatalError("Object must be from the Realm being queried")
    }
    guard objectAccess === access else {
      fatalError(
        "Object of type '\(objectAccess.stored.name)' does not match Results type "
          + "'\(access.stored.name)'.")
    }
    if let table = wholeTable, let table {
      return realm.reading { () throws(StoreError) in try unsafe table.rank(of: object.key) }
    }
    return unsafe currentKeys().firstIndex(of: object.key)
  }
}
