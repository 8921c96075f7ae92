/// The keys of a collection's elements, in their order.
///
/// They lie in chunks, which the sequences of two versions share where nothing came or went, so that a
/// change costs what it touches and a pointer per chunk.
struct KeySequence: Sendable {
  private var chunks: [[Int64]] = []
  /// The position of each chunk's first key.
  private var starts: [Int] = []
  private(set) var count = 0
  /// How many keys new chunks have; a chunk is split when it has twice as many.
  private static let chunkSize = 1024

  init(_ keys: [Int64] = []) {
    chunks = stride(from: 0, to: keys.count, by: Self.chunkSize).map {
      Array(keys[$0..<min($0 + Self.chunkSize, keys.count)])
    }
    index()
  }

  /// All keys.
  var array: [Int64] {
    var keys: [Int64] = []
    keys.reserveCapacity(count)
    for chunk in chunks { keys += chunk }
    return keys
  }

  subscript(position: Int) -> Int64 {
    let chunk = chunk(of: position)
    return chunks[chunk][position - starts[chunk]]
  }

  /// The positions, ascending, of the keys that are one of `keys`.
  func positions(of keys: Set<Int64>) -> [Int] {
    guard let least = keys.min(), let greatest = keys.max() else { return [] }
    var positions: [Int] = []
    for (chunk, start) in zip(chunks, starts) {
      for (offset, key) in chunk.enumerated()
      where key >= least && key <= greatest && keys.contains(key) {
        positions.append(start + offset)
      }
    }
    return positions
  }

  /// The first position whose key does not satisfy `isBefore`, which all keys before it do and none
  /// behind it; by binary search.
  func partition<Failure: Error>(
    isBefore: (Int64) throws(Failure) -> Bool
  ) throws(Failure) -> Int {
    var (low, high) = (0, chunks.count)
    while low < high {
      let middle = (low + high) / 2
      if try isBefore(chunks[middle][chunks[middle].count - 1]) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < chunks.count else { return count }
    let chunk = chunks[low]
    var (first, last) = (0, chunk.count - 1)
    while first < last {
      let middle = (first + last) / 2
      if try isBefore(chunk[middle]) { first = middle + 1 } else { last = middle }
    }
    return starts[low] + first
  }

  /// Takes out the keys at these positions, which ascend.
  mutating func remove(at positions: [Int]) {
    if positions.isEmpty { return }
    for position in positions.reversed() {
      let chunk = chunk(of: position)
      chunks[chunk].remove(at: position - starts[chunk])
    }
    index()
  }

  /// Puts in keys, each before what is at its position now; the positions do not descend.
  mutating func insert(_ keys: [(position: Int, key: Int64)]) {
    if keys.isEmpty { return }
    if chunks.isEmpty {
      self = KeySequence(keys.map(\.key))
      return
    }
    for (position, key) in keys.reversed() {
      let chunk = chunk(of: min(position, count - 1))
      chunks[chunk].insert(key, at: position - starts[chunk])
    }
    index()
  }

  // MARK: Chunks

  private func chunk(of position: Int) -> Int {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= position { low = middle } else { high = middle }
    }
    return low
  }

  /// Brings the chunks to their sizes, and notes where they start.
  private mutating func index() {
    if chunks.contains(where: { $0.isEmpty || $0.count > 2 * Self.chunkSize }) {
      chunks = chunks.flatMap { chunk -> [[Int64]] in
        if chunk.isEmpty { return [] }
        if chunk.count <= 2 * Self.chunkSize { return [chunk] }
        return stride(from: 0, to: chunk.count, by: Self.chunkSize).map {
          Array(chunk[$0..<min($0 + Self.chunkSize, chunk.count)])
        }
      }
    }
    count = 0
    starts.removeAll(keepingCapacity: true)
    for chunk in chunks {
      starts.append(count)
      count += chunk.count
    }
  }
}
