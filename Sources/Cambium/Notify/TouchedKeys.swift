/// A set of keys that is cheap to add to, and mostly added to in order: what a transaction touches.
///
/// Keys are appended as they come, some perhaps more than once, until somebody asks which there are.
struct TouchedKeys: Sendable {
  private var appended: [Int64] = []
  /// Whether they ascend, each of them once.
  private var isInOrder = true
  /// The same as a set, once it was asked for to stay.
  private var members: Set<Int64>?

  var isEmpty: Bool { appended.isEmpty }

  @inline(__always) mutating func append(_ key: Int64) {
    if let last = appended.last {
      if key == last { return }
      if key < last { isInOrder = false }
    }
    if members != nil { members = nil }
    appended.append(key)
  }

  mutating func append(contentsOf others: TouchedKeys) {
    for key in others.appended { append(key) }
  }

  /// The keys, ascending.
  var sorted: [Int64] {
    if isInOrder { return appended }
    var sorted = appended.sorted()
    var count = 0
    for key in sorted where count == 0 || key != sorted[count - 1] {
      sorted[count] = key
      count += 1
    }
    sorted.removeLast(sorted.count - count)
    return sorted
  }

  /// Forgets what came more than once.
  mutating func compact() {
    if isInOrder { return }
    appended = sorted
    isInOrder = true
  }

  /// The keys as a set.
  var set: Set<Int64> { members ?? Set(appended) }

  /// Makes the set, for many who will ask for it.
  mutating func keepSet() { if members == nil { members = Set(appended) } }
}
