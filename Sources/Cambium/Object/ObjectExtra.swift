/// What few objects have.
final class ObjectExtra {
  /// Notes what a key path reads, in objects made for that.
  let trace: KeyPathTrace?
  /// Values of an unmanaged object's properties that their types cannot hold, by property.
  var unfitValues: [Int: any _StoredScalar] = [:]

  init(trace: KeyPathTrace? = nil) { self.trace = trace }
}
