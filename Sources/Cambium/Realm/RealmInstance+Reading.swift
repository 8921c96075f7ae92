import CambiumCore

/// Reading where the interface cannot throw.
extension RealmInstance {
  /// Runs `body`; stops when the store fails where the interface cannot throw.
  @inline(__always)
  func reading<Value>(_ body: () throws(StoreError) -> Value) -> Value {
    do throws(StoreError) { return try body() } catch { stop(error, path: configuration.path) }
  }

  /// Runs `body`, which evaluates and may give up; `rest` stands for what it would have found then.
  func evaluating<Value>(
    or rest: @autoclosure () -> Value, _ body: (Interruption?) throws(StoreError) -> Value
  ) -> Value {
    do throws(StoreError) { return try body(interruption) } catch {
      if case .interrupted = error { return rest() }
      stop(error, path: configuration.path)
    }
  }

  /// Whether an evaluation gave up: what is found from now on is thrown away.
  var isInterrupted: Bool { interruption?.reason != nil }

  /// Asks whether a walk is to end.
  var givesUp: Bool {
    guard let interruption else { return false }
    do throws(StoreError) { try interruption.check() } catch { return true }
    return false
  }

  /// The table under `name` as it is read now; nil when there is none.
  func readTable(_ name: String) -> Table? {
    reading { () throws(StoreError) in
      if let session = unsafe session { return try session.transaction.table(name) }
      return try currentSnapshot.table(name)
    }
  }

  /// The key tree under `name` as it is read now; nil when there is none.
  func readKeyTree(_ name: String) -> KeyTree? {
    reading { () throws(StoreError) in
      guard let session = unsafe session else { return try currentSnapshot.keyTree(name) }
      session.settle()
      return try session.transaction.keyTree(name)
    }
  }
}
