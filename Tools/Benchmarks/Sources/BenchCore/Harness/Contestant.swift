import Foundation

/// What workloads and preparations draw from.
struct Stock {
  /// All people.
  let people: People
  /// Where engines keep their files.
  let folder: TemporaryFolder
  /// The seed of everything random.
  let seed: UInt64

  /// The order that fills an engine up to `contents`.
  fileprivate func order(for contents: Contents) -> LoadOrder {
    contents == .randomKeys
      ? .randomKeys(people.count) : .ascending(people.count)
  }
}

/// An engine and what it holds.
final class Contestant {
  let type: any Engine.Type
  private(set) var engine: (any Engine)?
  /// What a measurement left in it.
  var holds = Contents.empty

  init(type: any Engine.Type) {
    self.type = type
  }

  /// Brings the engine to what a workload starts with; nothing of this is measured.
  func prepared(for start: Contents, _ stock: Stock) throws -> any Engine {
    // Write-back of what others left behind must not fall into the measurement.
    defer { sync() }
    if let engine, start.isMet(by: holds) {
      try engine.settle()
      return engine
    }
    engine?.close()
    engine = nil
    let fresh = type.init(folder: try stock.folder.emptyFolder(type.name))
    try fresh.create()
    engine = fresh
    if start != .empty { try fill(fresh, start, stock) }
    try fresh.settle()
    return fresh
  }

  private func fill(_ engine: any Engine, _ contents: Contents, _ stock: Stock) throws {
    guard let loading = engine as? any BulkLoading else { return }
    try loading.load(stock.people, stock.order(for: contents))
    guard contents == .agedPeople, let updating = engine as? any SmallCommitting else { return }
    var random = RandomBits(seed: stock.seed)
    let total = min(stock.people.count, 1_000_000)
    var done = 0
    while done < total {
      let changes = (0..<min(1000, total - done)).map { _ in
        AgeChange(
          key: Int64.random(in: 0..<Int64(stock.people.count), using: &random),
          age: Int64.random(in: 0..<100, using: &random))
      }
      try updating.commit(changes, isDurable: false)
      done += changes.count
    }
  }
}
