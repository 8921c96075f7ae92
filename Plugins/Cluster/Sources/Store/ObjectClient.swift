import CambiumCore

/// Asks the cluster until it answers, or the time is over, and says in the words of stores what went wrong.
struct ObjectClient: Sendable {
  let storage: any ObjectStorage
  let timeoutNanoseconds: Int64
  let clock: BackgroundJob
  private static let pauseNanoseconds: Int64 = 20_000_000

  var path: String { storage.path }

  /// Does an operation that may happen more than once; nil when there is no such object or lock.
  ///
  /// Throws `StoreError.unreachable(path:operation:reason:)` when no answer came in time.
  func ask(_ request: ObjectRequest, _ operation: String) throws(StoreError) -> ObjectAnswer? {
    try settle(storage.perform([request])[0], of: request, operation)
  }

  /// Does such operations, some at a time; `wasUnknown` is called when the outcome of one is not known at
  /// first, so that it may happen again.
  func ask(
    _ requests: [ObjectRequest], _ operation: String, wasUnknown: () -> Void = {}
  ) throws(StoreError) -> [ObjectAnswer?] {
    var answers: [ObjectAnswer?] = []
    var rest = requests[...]
    while !rest.isEmpty {
      let some = Array(rest.prefix(Self.parallelCount))
      rest = rest.dropFirst(some.count)
      for (request, result) in zip(some, storage.perform(some)) {
        if case .failure(.unknown) = result { wasUnknown() }
        answers.append(try settle(result, of: request, operation))
      }
    }
    return answers
  }

  private static let parallelCount = 8

  /// The answer that was given, or a later one where it is unknown what has happened.
  func settle(
    _ first: Result<ObjectAnswer, ObjectFailure>, of request: ObjectRequest, _ operation: String
  ) throws(StoreError) -> ObjectAnswer? {
    let begin = clock.now
    var result = first
    while true {
      switch result {
      case .success(let answer): return answer
      case .failure(.missing): return nil
      case .failure(.unknown(let reason)):
        guard clock.now - begin < timeoutNanoseconds else {
          throw .unreachable(path: path, operation: operation, reason: reason)
        }
        storage.sleep(nanoseconds: Self.pauseNanoseconds)
        result = storage.perform([request])[0]
      case .failure(let failure): throw error(failure, operation)
      }
    }
  }

  /// A failure in the words of stores.
  func error(_ failure: ObjectFailure, _ operation: String) -> StoreError {
    switch failure {
    case .full: .mediumFull(path: path)
    case .unknown(let reason): .unreachable(path: path, operation: operation, reason: reason)
    case .refused(let reason): .refused(path: path, operation: operation, reason: reason)
    case .missing: .refused(path: path, operation: operation, reason: "there is no such object")
    case .exists: .refused(path: path, operation: operation, reason: "there is such an object")
    case .mismatch: .ownershipLost(path: path)
    case .busy: .inUse(path: path, holder: "another machine")
    }
  }

  /// Reads ranges of an object; nil when there is none.
  func read(
    _ name: String, _ ranges: [Range<Int>], _ operation: String
  ) throws(StoreError) -> [PageBuffer]? {
    guard let answer = try ask(.read(name: name, ranges: ranges), operation) else { return nil }
    guard case .bytes(let buffers) = answer, buffers.count == ranges.count else {
      throw .refused(path: path, operation: operation, reason: "the answer is of another operation")
    }
    return buffers
  }

  /// Lists names, of objects or of those who hold a lock.
  func names(_ request: ObjectRequest, _ operation: String) throws(StoreError) -> [String] {
    guard let answer = try ask(request, operation) else { return [] }
    guard case .names(let names) = answer else {
      throw .refused(path: path, operation: operation, reason: "the answer is of another operation")
    }
    return names
  }
}
