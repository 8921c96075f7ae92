import CambiumCore

extension ResultsCore {
  /// What results are, whatever the Realm: a query, and what it is asked of.
  struct Identity: Sendable, Hashable {
    let className: String?
    /// Whether the elements are dynamic objects.
    let isDynamic: Bool
    let source: SourceIdentity
    let plan: QueryPlan?
    let valueSteps: [ValueStep]
  }

  /// What a query is asked of, whatever the Realm.
  enum SourceIdentity: Sendable, Hashable {
    case all
    case collection(PropertyIdentity)
    /// The objects of a class that link to `target` through a property.
    case linking(target: RowIdentity, className: String, property: String)
    case nothing
  }

  var identity: Identity {
    Identity(
      className: access?.stored.name, isDynamic: layout?.description.isDynamic ?? false,
      source: source.identity, plan: plan, valueSteps: valueSteps)
  }

  /// The results in `realm`; nil when what they come from is not there.
  static func results(of identity: Identity, in realm: RealmInstance) -> ResultsCore? {
    let access = identity.className.flatMap { realm.anyAccess(named: $0) }
    guard identity.className == nil || access != nil,
      let source = Source.source(of: identity.source, in: realm)
    else { return nil }
    return ResultsCore(
      realm: realm, source: source, access: access,
      layout: identity.isDynamic ? access?.layout.dynamicLayout : access?.layout,
      plan: identity.plan, valueSteps: identity.valueSteps)
  }

  /// Whether what the results come from was deleted, which leaves them empty.
  var isSourceGone: Bool {
    switch source {
    case .all: false
    case .collection(let collection): collection.isInvalidated
    case .linking(let linking): linking.isInvalidated
    case .nothing: true
    }
  }

  /// Results of nothing, otherwise the same, in `realm`.
  func emptied(in realm: RealmInstance) -> ResultsCore {
    ResultsCore(
      realm: realm, source: .nothing,
      access: access.flatMap { realm.anyAccess(named: $0.stored.name) }, layout: layout, plan: plan,
      valueSteps: valueSteps)
  }
}

// Exclusivity is not checked: the Realm's classes are loaded in its context.
extension ResultsCore.Source {
  fileprivate var identity: ResultsCore.SourceIdentity {
    switch self {
    case .all: .all
    case .collection(let collection): .collection(collection.identity)
    case .linking(let linking):
      .linking(
        target: linking.target.identity, className: linking.origin.stored.name,
        property: linking.origin.description.properties[linking.originProperty].property.name)
    case .nothing: .nothing
    }
  }

  fileprivate static func source(
    of identity: ResultsCore.SourceIdentity, in realm: RealmInstance
  ) -> Self? {
    switch identity {
    case .all: return .all
    case .collection(let property):
      return ManagedCollection.value(of: property, in: realm).map { .collection($0) }
    case .linking(let target, let className, let property):
      guard let object = target.object(in: realm),
        let originClass = realm.classSet.index(named: className),
        let originProperty = unsafe realm.classes[originClass].stored.propertyIndex(property)
      else { return nil }
      return .linking(
        LinkingSource(
          target: object.managedRow(in: object.classAccess), originClass: originClass,
          originProperty: originProperty))
    case .nothing: return nil
    }
  }
}
