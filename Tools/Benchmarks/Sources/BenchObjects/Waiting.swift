import Dispatch

/// Waits on this thread until `body`, which runs elsewhere, is done.
func waiting<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let done = DispatchSemaphore(value: 0)
  let box = Box<Value>()
  Task.detached {
    do { box.result = .success(try await body()) } catch { box.result = .failure(error) }
    done.signal()
  }
  done.wait()
  guard let result = box.result else { throw CancellationError() }
  return try result.get()
}

/// Unchecked: written once before the semaphore is signalled and read after it was waited for.
private final class Box<Value: Sendable>: @unchecked Sendable {
  var result: Result<Value, any Error>?
}
