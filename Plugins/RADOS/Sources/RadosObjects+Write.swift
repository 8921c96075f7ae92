#if RADOS
  import CRados
  import CambiumCluster

  /// What changes objects: each is one operation, of which all parts take place or none.
  ///
  /// Pointers: librados copies the bytes within the calls that they are lent for.
  extension RadosObjects {
    func write(_ name: String, _ offset: Int, _ bytes: [UInt8], _ call: ObjectCall) {
      change(name, call) { change in
        // Writing nothing makes no object.
        if bytes.isEmpty { change.create(.ifMissing) }
        change.write(bytes, at: offset)
      }
    }

    func create(_ name: String, _ bytes: [UInt8], _ call: ObjectCall) {
      change(name, call) { change in
        change.create(.exclusively)
        change.write(bytes, at: 0)
      }
    }

    func swap(_ name: String, _ swap: ObjectSwap, _ call: ObjectCall) {
      change(name, call) { change in
        // An object that is missing compares as if it were empty.
        change.requireObject()
        change.compare(swap.expected, at: swap.offset)
        switch swap.change {
        case .write(let parts):
          for part in parts { change.write(part.bytes, at: part.offset) }
        case .replace(let bytes): change.replace(bytes)
        }
      }
    }

    func remove(_ name: String, _ call: ObjectCall) {
      change(name, call) { $0.remove() }
    }

    private func change(_ name: String, _ call: ObjectCall, _ body: (RadosChange) -> Void) {
      let change = RadosChange()
      body(change)
      unsafe RadosOperation.begin(connection, call) { completion in
        unsafe rados_aio_write_op_operate(
          change.operation, connection.pool, completion, name, nil, RadosChange.flags)
      }
    }
  }

  /// The parts of an operation that changes an object.
  ///
  /// One user at a time.
  ///
  /// Pointers: the operation lives as long as this; librados takes its parts over when it begins.
  @safe final class RadosChange {
    enum Creation {
      case exclusively
      case ifMissing
    }

    let operation = unsafe rados_create_write_op()

    /// A full pool answers so, instead of keeping librados waiting, and still removes objects.
    static let flags = CInt(LIBRADOS_OPERATION_FULL_TRY)

    deinit { unsafe rados_release_write_op(operation) }

    func create(_ creation: Creation) {
      let mode = creation == .exclusively ? LIBRADOS_CREATE_EXCLUSIVE : LIBRADOS_CREATE_IDEMPOTENT
      unsafe rados_write_op_create(operation, CInt(mode), nil)
    }

    func requireObject() { unsafe rados_write_op_assert_exists(operation) }

    func compare(_ bytes: [UInt8], at offset: Int) {
      if bytes.isEmpty { return }
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe rados_write_op_cmpext(
          operation, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
          UInt64(offset), nil)
      }
    }

    func write(_ bytes: [UInt8], at offset: Int) {
      if bytes.isEmpty { return }
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe rados_write_op_write(
          operation, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
          UInt64(offset))
      }
    }

    func replace(_ bytes: [UInt8]) {
      if bytes.isEmpty { return unsafe rados_write_op_truncate(operation, 0) }
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe rados_write_op_write_full(
          operation, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
      }
    }

    func remove() { unsafe rados_write_op_remove(operation) }
  }
#endif
