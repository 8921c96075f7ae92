/// What few objects have.
final class ObjectExtra {
  /// Notes what a key path reads, in objects made for that.
  let trace: KeyPathTrace?
  /// Values of an unmanaged object's properties that their types cannot hold, by property.
  var unfitValues: [Int: any _StoredScalar] = [:]
  /// The transaction that made the object, if that was running when the accessor was made.
  ///
  /// Accessors that have nothing else share one extra per transaction.
  var birth: Birth?

  init(trace: KeyPathTrace? = nil, birth: Birth? = nil) {
    self.trace = trace
    self.birth = birth
  }
}
