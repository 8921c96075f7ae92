#if RADOS
  import CRados
  import CambiumCluster
  import CambiumCore

  /// An operation that librados works on.
  ///
  /// It keeps the connection, and what librados writes into, until librados has called back.
  ///
  /// Pointers: librados keeps one reference to the operation, which its callback gives back; it calls back
  /// once, or not at all when the call that was to begin the operation failed.
  @safe final class RadosOperation: Sendable {
    private let connection: RadosConnection
    private let call: ObjectCall
    /// Makes the answer from what librados returned: nil when that was success.
    private let answer: Answer

    typealias Answer = @Sendable (ObjectFailure?) -> Result<ObjectAnswer, ObjectFailure>

    private init(
      _ connection: RadosConnection, _ call: ObjectCall, _ answer: @escaping Answer
    ) {
      self.connection = connection
      self.call = call
      self.answer = answer
    }

    /// Lets `begin` hand an operation to librados, with the completion that it is given, and answers `call`
    /// when librados has called back, with what `answer` makes of its return value.
    static func begin(
      _ connection: RadosConnection, _ call: ObjectCall,
      answer: @escaping Answer = { $0.map { .failure($0) } ?? .success(.done) },
      _ begin: (rados_completion_t) -> CInt
    ) {
      guard connection.gate.enter() else { return call.end(.failure(.closed)) }
      let operation = RadosOperation(connection, call, answer)
      let reference = unsafe Unmanaged.passRetained(operation)
      var completion: rados_completion_t?
      var code = unsafe rados_aio_create_completion2(
        reference.toOpaque(), radosOperationEnded, &completion)
      if let completion = unsafe completion {
        code = unsafe begin(completion)
        // librados keeps it for as long as it needs it.
        unsafe rados_aio_release(completion)
      }
      if code < 0 {
        unsafe reference.release()
        operation.end(code)
      }
    }

    /// Answers with what librados returned.
    fileprivate func end(_ code: CInt) {
      call.end(answer(code < 0 ? connection.failure(code) : nil))
      connection.gate.leave()
    }
  }

  /// Called by librados on a thread of its own when an operation is done.
  ///
  /// Pointers: `context` is the reference that ``RadosOperation`` gave away, and the completion is good
  /// during the call.
  private func radosOperationEnded(
    _ completion: rados_completion_t?, _ context: UnsafeMutableRawPointer?
  ) {
    guard let completion = unsafe completion, let context = unsafe context else { return }
    let operation = unsafe Unmanaged<RadosOperation>.fromOpaque(context).takeRetainedValue()
    operation.end(unsafe rados_aio_get_return_value(completion))
  }
#endif
