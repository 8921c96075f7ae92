/// Elements of nodes that may have refs.
extension Node {
  /// What an element of such a node can be.
  enum Slot: Equatable {
    /// No node; also a slot that older formats do not have.
    case none
    /// The position of a node, not checked yet.
    case ref(Int)
    /// An integer of 63 bits.
    case tagged(Int64)

    init(_ element: Int64) {
      if element == 0 {
        self = .none
      } else if element & 1 == 1 {
        self = .tagged(Int64(bitPattern: UInt64(bitPattern: element) >> 1))
      } else {
        self = .ref(Int(element))
      }
    }
  }

  /// Element `index`; `none` when there is none.
  func slot(_ index: Int) throws(ReadFault) -> Slot {
    guard hasRefs, scheme == .bits else {
      throw damage("a node without refs stands where one with refs belongs")
    }
    return index < count ? Slot(element(index)) : .none
  }

  /// The position in element `index`; nil for none.
  ///
  /// `what` names it in errors.
  func optionalRef(_ index: Int, _ what: String) throws(ReadFault) -> Int? {
    switch try slot(index) {
    case .none: nil
    case .ref(let position): position
    case .tagged: throw damage("an integer stands in the place of the ref of \(what)")
    }
  }

  /// The position in element `index`, which has to be there.
  func ref(_ index: Int, _ what: String) throws(ReadFault) -> Int {
    guard let position = try optionalRef(index, what) else {
      throw damage("the ref of \(what) is missing")
    }
    return position
  }

  /// The tagged integer in element `index`; nil for none.
  func optionalTagged(_ index: Int, _ what: String) throws(ReadFault) -> Int64? {
    switch try slot(index) {
    case .none: nil
    case .ref: throw damage("a ref stands in the place of \(what)")
    case .tagged(let value): value
    }
  }

  /// The tagged integer in element `index`, which has to be there.
  func tagged(_ index: Int, _ what: String) throws(ReadFault) -> Int64 {
    guard let value = try optionalTagged(index, what) else {
      throw damage("\(what) is missing")
    }
    return value
  }
}
