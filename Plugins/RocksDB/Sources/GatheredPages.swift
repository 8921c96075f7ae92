#if RocksDB
  import CambiumCore
  import Synchronization

  /// The pages of the running write that are not in the database yet, where its readers find them.
  ///
  /// Thread-safe.
  ///
  /// Pointers: a page that goes into a batch is copied by RocksDB within the call; its buffer is in the
  /// table until then.
  final class GatheredPages: Sendable {
    private struct State {
      var pages: [UInt64: PageBuffer] = [:]
      var byteCount = 0
    }

    private let state = Mutex(State())
    /// Most reads come while there are none.
    private let isEmpty = Atomic(true)

    /// The page at a location, as a reference names it.
    func page(_ location: UInt64) -> Page? {
      if isEmpty.load(ordering: .acquiring) { return nil }
      return state.withLock { $0.pages[location] }?.page
    }

    /// Keeps a page; how many bytes there are now.
    func put(_ buffer: PageBuffer, at location: UInt64) -> Int {
      isEmpty.store(false, ordering: .releasing)
      return state.withLock { state in
        let old = state.pages.updateValue(buffer, forKey: location)
        state.byteCount += buffer.byteCount - (old?.byteCount ?? 0)
        return state.byteCount
      }
    }

    /// Forgets a page; false when it is not here.
    func remove(_ location: UInt64) -> Bool {
      state.withLock { state in
        guard let old = state.pages.removeValue(forKey: location) else { return false }
        state.byteCount -= old.byteCount
        return true
      }
    }

    /// Adds all pages to a batch, in the order of their addresses; they stay here.
    func add(to batch: RocksBatch) {
      let pages = state.withLock { $0.pages }
      for (location, buffer) in pages.sorted(by: { $0.key < $1.key }) {
        unsafe batch.put(
          StoredKey.page(location: location),
          UnsafeRawBufferPointer(start: buffer.bytes, count: buffer.byteCount))
      }
    }

    /// Forgets all pages: they are in the database, or nobody wants them.
    func removeAll() {
      state.withLock { $0 = State() }
      isEmpty.store(true, ordering: .releasing)
    }
  }
#endif
