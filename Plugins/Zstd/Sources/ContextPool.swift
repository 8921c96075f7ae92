#if Zstd
  import CPlatform
  import Synchronization

  /// A few contexts that threads take and give back, without a lock.
  ///
  /// A thread looks first where it put one last. When all places are taken, or full, a context is made
  /// for one call.
  ///
  /// Unchecked: the places are atomic, and what lies in one belongs to whoever took it out.
  @safe final class ContextPool: @unchecked Sendable {
    private static let count = 16
    /// Places lie on lines of their own.
    private static let stride = 64
    private let places: UnsafeMutableRawPointer
    private let make: () -> OpaquePointer?
    private let free: (OpaquePointer) -> Void

    init(make: @escaping () -> OpaquePointer?, free: @escaping (OpaquePointer) -> Void) {
      unsafe self.make = unsafe make
      unsafe self.free = unsafe free
      unsafe places = .allocate(byteCount: Self.count * Self.stride, alignment: Self.stride)
      unsafe places.initializeMemory(as: UInt8.self, repeating: 0, count: Self.count * Self.stride)
    }

    deinit {
      for index in 0..<Self.count {
        if let context = unsafe OpaquePointer(
          bitPattern: place(index).pointee.load(ordering: .acquiring))
        {
          unsafe free(context)
        }
      }
      unsafe places.deallocate()
    }

    private func place(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
      unsafe (places + index * Self.stride).assumingMemoryBound(to: Atomic<UInt>.self)
    }

    func withContext<Result>(_ body: (OpaquePointer) -> Result) -> Result {
      let home = Int(truncatingIfNeeded: cambium_thread_token()) & (Self.count - 1)
      let bits = unsafe place(home).pointee.exchange(0, ordering: .acquiring)
      guard let context = unsafe OpaquePointer(bitPattern: bits) ?? make() else {
        fatalError("There is no memory left for a context of zstd.")
      }
      defer { unsafe put(context, at: home) }
      return unsafe body(context)
    }

    private func put(_ context: OpaquePointer, at home: Int) {
      let bits = UInt(bitPattern: context)
      let result = unsafe place(home).pointee.compareExchange(
        expected: 0, desired: bits, ordering: .acquiringAndReleasing)
      if !result.exchanged { unsafe free(context) }
    }
  }
#endif
