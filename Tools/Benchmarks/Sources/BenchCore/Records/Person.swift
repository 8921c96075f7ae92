/// One record of the benchmark.
///
/// Its byte fields borrow from the `People` it came from.
struct Person {
  /// The primary key.
  var id: Int64
  /// 8–20 ASCII letters, one of about 100,000 names.
  var name: UnsafeRawBufferPointer
  /// 0–99.
  var age: Int64
  /// About 24 ASCII bytes, distinct for nearly every person.
  var email: UnsafeRawBufferPointer
  /// 0 or more, below 1000.
  var score: Double
  var active: Bool
}
