import CambiumCore

extension RealmInstance {
  /// What keeps this Realm from moving to `view`, whose schema others have changed; nil when nothing
  /// does.
  ///
  /// Asked before every move to another version. Where no table was described otherwise since, it is
  /// one number that is looked up and compared; the classes are compared once for each number.
  func obstacle(in view: some ReadTransaction) throws(StoreError) -> RLMError? {
    let generation = try view.layoutGeneration()
    if unsafe generation != comparedLayout.generation {
      let drift = try SchemaDrift(classSet, stored, in: view)
      unsafe comparedLayout = (generation, drift.error(path: configuration.path))
    }
    return unsafe comparedLayout.obstacle
  }
}
