#if RADOS
  import CRados
  import CambiumCluster
  import CambiumCore
  import Foundation

  extension RadosObjects {
    /// Reads all ranges in one operation.
    ///
    /// Pointers: the operation keeps `reading`, in which librados writes, until librados has called back.
    func read(_ name: String, _ ranges: [Range<Int>], _ call: ObjectCall) {
      let reading = RadosReading(ranges)
      let operation = unsafe rados_create_read_op()
      defer { unsafe rados_release_read_op(operation) }
      unsafe rados_read_op_assert_exists(operation)
      unsafe reading.add(to: operation)
      unsafe RadosOperation.begin(connection, call) { failure in
        if let failure { return .failure(failure) }
        return reading.answer
      } _: { completion in
        unsafe rados_aio_read_op_operate(operation, connection.pool, completion, name, 0)
      }
    }

    /// Lists names until there are no more.
    ///
    /// Pointers: the list is this call's; a name is good until the next is asked for, and is copied.
    func list(_ call: ObjectCall) {
      run(on: listLane, call) { connection in
        var list: rados_list_ctx_t?
        let code = unsafe rados_nobjects_list_open(connection.pool, &list)
        guard code == 0, let list = unsafe list else { return .failure(connection.failure(code)) }
        defer { unsafe rados_nobjects_list_close(list) }
        var names: [String] = []
        while !connection.gate.isClosed {
          var name: UnsafePointer<CChar>?
          let code = unsafe rados_nobjects_list_next(list, &name, nil, nil)
          if code == -ENOENT { return .success(.names(names)) }
          guard code == 0, let name = unsafe name else { return .failure(connection.failure(code)) }
          let text = unsafe String(cString: name)
          if !RadosNames.isReserved(text) { names.append(text) }
        }
        return .failure(.closed)
      }
    }
  }

  /// The names of objects that are not the store's.
  enum RadosNames {
    /// On which the hints hang.
    static let hints = "hints"

    /// On which the lock of that name hangs.
    static func lock(_ name: String) -> String { lockPrefix + name }

    private static let lockPrefix = "lock."

    /// Whether the name is for hints or a lock.
    static func isReserved(_ name: String) -> Bool { name == hints || name.hasPrefix(lockPrefix) }
  }

  /// What librados reads into.
  ///
  /// Unchecked: librados alone writes until it has called back, and then all is only read.
  ///
  /// Pointers: `counts` and `codes` have a place for each range, and live as long as this; the buffers have
  /// room for what is asked.
  @safe private final class RadosReading: @unchecked Sendable {
    private let ranges: [Range<Int>]
    private let buffers: [PageBuffer]
    private let counts: UnsafeMutablePointer<Int>
    private let codes: UnsafeMutablePointer<CInt>

    init(_ ranges: [Range<Int>]) {
      self.ranges = ranges
      buffers = ranges.map { unsafe PageBuffer(uninitialized: $0.count) }
      unsafe counts = .allocate(capacity: ranges.count)
      unsafe counts.initialize(repeating: 0, count: ranges.count)
      unsafe codes = .allocate(capacity: ranges.count)
      unsafe codes.initialize(repeating: 0, count: ranges.count)
    }

    deinit {
      unsafe counts.deallocate()
      unsafe codes.deallocate()
    }

    /// Makes each range a part of `operation`.
    func add(to operation: rados_read_op_t?) {
      // A cluster that is asked for no bytes gives all there are.
      for (index, range) in ranges.enumerated() where !range.isEmpty {
        unsafe rados_read_op_read(
          operation, UInt64(range.lowerBound), range.count,
          buffers[index].bytes.assumingMemoryBound(to: CChar.self), counts + index, codes + index)
      }
    }

    /// What was read; to be asked when librados has called back.
    var answer: Result<ObjectAnswer, ObjectFailure> {
      var read: [PageBuffer] = []
      read.reserveCapacity(buffers.count)
      for (index, buffer) in buffers.enumerated() {
        let (count, code) = unsafe (counts[index], codes[index])
        if code < 0 { return .failure(ObjectFailure(rados: code)) }
        read.append(count == buffer.byteCount ? buffer : Self.shortened(buffer, count))
      }
      return .success(.bytes(read))
    }

    private static func shortened(_ buffer: PageBuffer, _ count: Int) -> PageBuffer {
      buffer.withBytes { PageBuffer(copying: $0.extracting(first: count)) }
    }
  }
#endif
