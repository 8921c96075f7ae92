import CambiumCore

extension ResultsCore {
  /// What makes the same results in another instance of the database; nil there when what they come
  /// from no longer exists.
  func transfer() -> @Sendable (RealmInstance) -> ResultsCore? {
    let (plan, steps) = (plan, valueSteps)
    let className = access?.stored.name
    let origin = origin()
    return { instance in
      let target = className.flatMap { instance.classSet.index(named: $0) }
        .map { instance.classes[$0] }
      guard className == nil || target != nil, let source = origin(instance) else { return nil }
      return ResultsCore(
        realm: instance, source: source, access: target, plan: plan, valueSteps: steps)
    }
  }

  private func origin() -> @Sendable (RealmInstance) -> Source? {
    switch source {
    case .all: return { _ in .all }
    case .fixed(let keys): return { _ in .fixed(keys) }
    case .list(let list):
      let name = list.list.access.stored.name
      let (key, created, index) = (list.list.key, list.created, list.list.index)
      return { instance in
        guard let place = instance.classSet.index(named: name),
          instance.classes[place].creation(of: key) == created,
          let owner = instance.classes[place].object(forKey: key)
        else { return nil }
        return .list(ListState(owner, index))
      }
    case .linking(let linking):
      let name = linking.access.stored.name
      let originName = linking.access.realm.classes[linking.originClass].stored.name
      let (key, created, property) = (linking.key, linking.created, linking.originProperty)
      return { instance in
        guard let place = instance.classSet.index(named: name),
          let origin = instance.classSet.index(named: originName),
          instance.classes[place].creation(of: key) == created
        else { return nil }
        return .linking(
          LinkingSource(
            access: instance.classes[place], key: key, created: created,
            epoch: instance.invalidations, originClass: origin, originProperty: property))
      }
    }
  }
}
