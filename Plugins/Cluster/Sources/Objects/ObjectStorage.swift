import CambiumCore

/// What a cluster of machines keeps for a store: named objects, in a space of names of the store's own.
///
/// It has ten operations, which ``ObjectRequest`` lists. Each of them happens at one moment, for all who
/// ask, or not at all; several that are under way at a time happen in any order. What was answered with
/// success survives every failure that the cluster is made for.
///
/// An operation whose outcome is unknown (``ObjectFailure/unknown(_:)``) may have happened, may happen later,
/// or never.
///
/// Thread-safe.
public protocol ObjectStorage: AnyObject, Sendable {
  /// The kind of store that it makes, as users write it, such as `rados`.
  var kind: String { get }

  /// What users call the space, such as `rados:pool/name`; errors name it.
  var path: String { get }

  /// Begins an operation, and returns without waiting for it; `call` is answered once, on any thread.
  func start(_ request: ObjectRequest, _ call: ObjectCall)

  /// Waits until `call` is answered.
  func wait(for call: ObjectCall)

  /// Waits for so long.
  func sleep(nanoseconds: Int64)

  /// Calls `body` with each hint that anybody gives from now on, on any thread, until this storage is
  /// closed; nobody relies on it.
  ///
  /// `body` is given nil when hints may have been missed.
  func watch(_ body: @escaping @Sendable (ObjectHint?) -> Void)

  /// Ends the connection: what is under way is answered, and no hint is given any more.
  func close()
}

extension ObjectStorage {
  /// Waits for the call's own signal.
  public func wait(for call: ObjectCall) { call.waitForAnswer() }

  /// Does one operation, and waits for its answer.
  public func perform(_ request: ObjectRequest) throws(ObjectFailure) -> ObjectAnswer {
    let call = ObjectCall()
    start(request, call)
    wait(for: call)
    return try call.answer
  }

  /// Does several operations at a time, and waits for all answers; they come in the order of the requests.
  public func perform(
    _ requests: [ObjectRequest]
  ) -> [Result<ObjectAnswer, ObjectFailure>] {
    let calls = requests.map { request in
      let call = ObjectCall()
      start(request, call)
      return call
    }
    return calls.map { call in
      wait(for: call)
      return call.result
    }
  }
}

/// One operation on objects.
public enum ObjectRequest: Sendable {
  /// Reads ranges of an object, all at one moment, into a buffer each: what is behind the object's end is
  /// left out. Fails with ``ObjectFailure/missing``.
  case read(name: String, ranges: [Range<Int>])
  /// Writes bytes into an object, which is made if there is none; room before `offset` that was never
  /// written reads as zeros.
  case write(name: String, offset: Int, bytes: [UInt8])
  /// Makes an object; fails with ``ObjectFailure/exists``.
  case create(name: String, bytes: [UInt8])
  /// Changes an object if it holds what is expected; fails with ``ObjectFailure/mismatch`` if not, and with
  /// ``ObjectFailure/missing``.
  case swap(name: String, ObjectSwap)
  /// Removes an object; fails with ``ObjectFailure/missing``.
  case remove(name: String)
  /// Lists the names of all objects, in any order: those that were there all the time, and perhaps others.
  case list
  /// Takes the lock of that name, or renews it: for one holder alone, or shared.
  ///
  /// It ends by itself `seconds` later, by the cluster's clocks. Fails with ``ObjectFailure/busy`` when others
  /// hold it, and it or theirs is not shared.
  case lock(name: String, holder: String, isShared: Bool, seconds: Int)
  /// Gives a lock back; fails with ``ObjectFailure/missing`` when the holder does not have it.
  case unlock(name: String, holder: String)
  /// Lists those who hold the lock of that name.
  case holders(name: String)
  /// Gives all who watch a hint.
  case hint(ObjectHint)
}

/// A change of an object that takes place if it holds what is expected.
public struct ObjectSwap: Sendable {
  /// Where the bytes begin that are compared.
  public var offset: Int
  /// What must be there; it does not end in zeros, which some clusters take for what is behind an object's end.
  public var expected: [UInt8]
  /// What the object becomes.
  public var change: Change

  /// What a swap does to its object.
  public enum Change: Sendable {
    /// The bytes at each offset are written; the rest stays.
    case write([(offset: Int, bytes: [UInt8])])
    /// The whole object is replaced.
    case replace([UInt8])
  }

  /// A swap that takes place when the object holds `expected` at `offset`.
  public init(offset: Int, expected: [UInt8], change: Change) {
    self.offset = offset
    self.expected = expected
    self.change = change
  }
}

/// What those who share a store tell one another; each may be lost, come late or twice.
public enum ObjectHint: UInt8, Sendable {
  /// There is a new version.
  case committed = 1
  /// Somebody waits for the writer lock.
  case wanted = 2
}

/// What an operation gives.
public enum ObjectAnswer: Sendable {
  /// Nothing: it has happened.
  case done
  /// The ranges that were read.
  case bytes([PageBuffer])
  /// Names of objects, or of those who hold a lock.
  case names([String])
}

/// Why an operation gives nothing.
public enum ObjectFailure: Error, Hashable, Sendable {
  /// There is no such object, or lock.
  case missing
  /// There is such an object.
  case exists
  /// The object holds something else.
  case mismatch
  /// Others hold the lock.
  case busy
  /// No answer came: the operation may have happened, may happen later, or never. Says why, for people.
  case unknown(String)
  /// The cluster is full; nothing happened.
  case full
  /// The cluster refuses; nothing happened. Says why, for people.
  case refused(String)
}
