/// What a transaction works on, under names and in their order; few.
struct NameList<Value> {
  private(set) var entries: [(name: String, value: Value)] = []

  /// Where `name` is, or would be.
  private func position(of name: String) -> (index: Int, isFound: Bool) {
    let name = ExactText(name)
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      let found = ExactText(entries[middle].name)
      if found == name { return (middle, true) }
      if found < name { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }

  /// What is under `name`; nil when nothing is.
  subscript(name: String) -> Value? {
    get {
      let place = position(of: name)
      return place.isFound ? entries[place.index].value : nil
    }
    set {
      let place = position(of: name)
      if place.isFound { entries.remove(at: place.index) }
      if let newValue { entries.insert((name, newValue), at: place.index) }
    }
  }
}
