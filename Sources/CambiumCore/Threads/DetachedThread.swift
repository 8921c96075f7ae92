import CPlatform

/// The one way in which the engine starts threads.
///
/// Pointers: the body is handed over with a reference count of its own. The thread takes it over; where
/// none was started it is given back here.
package enum DetachedThread {
  /// Runs `body` on a new thread that nobody waits for; false when the system has no more threads, and
  /// then nothing is run.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Box {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let context = unsafe Unmanaged.passRetained(Box(body))
    let code = unsafe cambium_start_thread(
      { raw in
        guard let raw = unsafe raw else { return }
        unsafe Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().body()
      }, unsafe context.toOpaque())
    if code != 0 { unsafe context.release() }
    return code == 0
  }
}
