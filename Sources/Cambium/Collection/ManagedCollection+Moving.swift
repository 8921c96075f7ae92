import CambiumCore

// What only lists do, whose order is their owner's choice.
extension ManagedCollection {
  /// Takes the element at `from` out and puts it in so that it ends at `to`.
  func move(from: Int, to: Int) {
    if from == to { return }
    let session = writing()
    let element = cells(at: [from])
    change(
      session,
      .positions { edits in
        edits.move(from, to: to)
      }
    ) { list throws(StoreError) in
      try list.replace(from..<from + 1, with: [])
      try list.replace(to..<to, with: element.cells)
    }
  }

  /// Exchanges two elements, each of which moves.
  func swap(_ first: Int, _ second: Int) {
    if first == second { return }
    let (low, high) = (min(first, second), max(first, second))
    let session = writing()
    let elements = cells(at: [second, first])
    change(
      session,
      .positions { edits in
        edits.move(high, to: low)
        if low + 1 < high { edits.move(low + 1, to: high) }
      }
    ) { list throws(StoreError) in
      try list.replace(first..<first + 1, with: [elements.cells[0]])
      try list.replace(second..<second + 1, with: [elements.cells[1]])
    }
  }
}
