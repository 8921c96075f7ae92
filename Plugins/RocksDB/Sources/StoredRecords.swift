#if RocksDB
  import CambiumCore

  /// The keys of a store.
  ///
  /// A page lies under eight bytes: address and length as in its reference, the most significant byte
  /// first, so that pages follow one another in the order of their addresses. The store's own records
  /// lie behind all pages.
  ///
  /// Pointers: a key is lent for the call, and has eight bytes when they are read.
  enum StoredKey {
    private static let own: UInt8 = 0xff
    /// What the store is; see ``IdentityRecord``.
    static let identity: [UInt8] = [own] + Array("identity".utf8)
    /// The newest version; see ``HeadRecord``.
    static let head: [UInt8] = [own] + Array("head".utf8)
    /// What ``head`` held when `version` was made, for the latest versions.
    static func commit(_ version: Version) -> [UInt8] {
      [own] + Array("commit".utf8) + [UInt8(version % Version(CommitMetadata.keptCount))]
    }
    /// There while a store that was written is open: who finds it comes after a crash.
    static let open: [UInt8] = [own] + Array("open".utf8)
    /// One behind the last page.
    static let end: [UInt8] = [own]

    /// Where the page at `extent` lies.
    static func page(_ extent: Extent) -> [UInt8] {
      page(location: extent.address << 16 | extent.unitCount)
    }

    static func page(location: UInt64) -> [UInt8] {
      unsafe withUnsafeBytes(of: location.bigEndian) { unsafe Array($0) }
    }

    /// The extent of the page under `key`; nil for the store's own keys.
    static func extent(_ key: UnsafeRawBufferPointer) -> Extent? {
      guard key.count == 8, unsafe key[0] != own else { return nil }
      let location = unsafe UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
      return Extent(address: location >> 16, unitCount: location & 0xffff)
    }
  }

  /// What a store is, written once; integers are little-endian.
  ///
  ///      0        4      8                  24             28
  ///     | format | zero | uuid (high, low) | codec length | codec | what it keeps | checksum 8 |
  ///
  /// Pointers: the stored bytes are lent for the call. That they hold all fields is checked before one
  /// is read; what lies behind these is sliced by lengths that were held against theirs.
  struct IdentityRecord {
    static let formatVersion = 1

    var uuidHigh: UInt64
    var uuidLow: UInt64
    var codec: String
    /// What is kept for the codec.
    var parameters: [UInt8]

    private enum Offset {
      static let format = 0
      static let uuidHigh = 8
      static let uuidLow = 16
      static let codecByteCount = 24
      static let codec = 28
    }

    /// The stored form.
    var bytes: [UInt8] {
      var bytes = [UInt8](repeating: 0, count: Offset.codec)
      let codec = Array(codec.utf8)
      bytes.store(UInt32(Self.formatVersion), at: Offset.format)
      bytes.store(uuidHigh, at: Offset.uuidHigh)
      bytes.store(uuidLow, at: Offset.uuidLow)
      bytes.store(UInt32(codec.count), at: Offset.codecByteCount)
      return (bytes + codec + parameters).withChecksum
    }

    /// Reads the stored form.
    init(_ stored: UnsafeRawBufferPointer, path: String) throws(StoreError) {
      let bytes = try unsafe stored.checked(smallest: Offset.codec, "the identity of '\(path)'")
      let format = unsafe Int(bytes.integer(at: Offset.format, UInt32.self))
      guard format <= Self.formatVersion else {
        throw .unsupportedFormat(path: path, version: format, supported: Self.formatVersion)
      }
      uuidHigh = unsafe bytes.integer(at: Offset.uuidHigh, UInt64.self)
      uuidLow = unsafe bytes.integer(at: Offset.uuidLow, UInt64.self)
      let codecByteCount = unsafe Int(bytes.integer(at: Offset.codecByteCount, UInt32.self))
      guard bytes.count >= Offset.codec + codecByteCount else {
        throw .damaged(Damage(.encoding, "the codec's name in the identity of '\(path)'"))
      }
      let rest = unsafe bytes[Offset.codec...]
      codec = unsafe String(decoding: rest.prefix(codecByteCount), as: UTF8.self)
      parameters = unsafe Array(rest.dropFirst(codecByteCount))
    }

    /// A new store for `codec`.
    ///
    /// Throws what the codec throws when it makes what is to be kept for it.
    init(for codec: (any PageCodec)?) throws(StoreError) {
      let number = StoreNumber.random()
      (uuidHigh, uuidLow) = (number.high, number.low)
      self.codec = codec?.name ?? ""
      parameters = []
      guard let codec else { return }
      parameters = try codec.makeParameters(for: number)
      try StoreLimits.check(parameters: parameters, codec: codec.name)
    }

    /// The store's identity, for codecs.
    var number: StoreNumber { StoreNumber(high: uuidHigh, low: uuidLow) }
  }

  /// The newest version, written with each commit; integers are little-endian.
  ///
  ///      0         8       16             24           32           40     80                84
  ///     | version | epoch | next address | page count | page bytes | root | metadata length | metadata |
  ///
  /// A codec that seals records seals these bytes; a checksum of 8 bytes follows.
  ///
  /// Pointers: the stored bytes are lent for the call, and have the length of all fields when one is
  /// read.
  struct HeadRecord: Sendable {
    var head = Head(version: 0, epoch: 1, root: .empty(.key))
    /// Where the next page goes, in units; no page was ever put there.
    ///
    /// Address 0 is never used.
    var nextAddress: UInt64 = 1
    /// How many pages the version has, and how many bytes they take.
    var pageCount = 0
    var pageByteCount = 0
    /// What the commit was given to keep.
    var metadata: [UInt8] = []

    private enum Offset {
      static let version = 0
      static let epoch = 8
      static let nextAddress = 16
      static let pageCount = 24
      static let pageByteCount = 32
      static let root = 40
      static let metadataByteCount = root + TreeRoot.byteCount
      static let metadata = metadataByteCount + 4
    }

    init() {}

    private static func place(_ version: Version) -> RecordContext {
      RecordContext(role: 16, place: 0, version: version)
    }

    /// The stored form in a store with that codec.
    func bytes(_ codec: (any PageCodec)?) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: Offset.metadata)
      bytes.store(head.version, at: Offset.version)
      bytes.store(head.epoch, at: Offset.epoch)
      bytes.store(nextAddress, at: Offset.nextAddress)
      bytes.store(UInt64(pageCount), at: Offset.pageCount)
      bytes.store(UInt64(pageByteCount), at: Offset.pageByteCount)
      bytes.replaceSubrange(
        Offset.root..<(Offset.root + TreeRoot.byteCount), with: head.root.storedBytes)
      bytes.store(UInt32(metadata.count), at: Offset.metadataByteCount)
      bytes += metadata
      if let codec, codec.recordOverhead > 0 {
        bytes = codec.sealRecord(bytes, context: Self.place(head.version))
      }
      return bytes.withChecksum
    }

    /// Reads the stored form.
    init(_ stored: UnsafeRawBufferPointer, _ codec: (any PageCodec)?) throws(StoreError) {
      var bytes = unsafe Array(try stored.checked(smallest: Offset.metadata, "the head"))
      if let codec, codec.recordOverhead > 0 {
        bytes = try codec.openRecord(bytes, context: Self.place(0))
      }
      self = try unsafe bytes.withBytes { fields throws(StoreError) in
        try unsafe HeadRecord(fields: fields)
      }
    }

    private init(fields bytes: UnsafeRawBufferPointer) throws(StoreError) {
      guard bytes.count >= Offset.metadata else {
        throw .damaged(Damage(.head, "the head is too short"))
      }
      let root = unsafe TreeRoot(
        loadingFrom: UnsafeRawBufferPointer(rebasing: bytes[Offset.root...]))
      let version = unsafe bytes.integer(at: Offset.version, UInt64.self)
      let epoch = unsafe bytes.integer(at: Offset.epoch, UInt64.self)
      nextAddress = unsafe bytes.integer(at: Offset.nextAddress, UInt64.self)
      let metadataByteCount = unsafe Int(bytes.integer(at: Offset.metadataByteCount, UInt32.self))
      guard let root, version < 1 << 48, epoch < .max, nextAddress > 0, nextAddress < 1 << 48,
        bytes.count == Offset.metadata + metadataByteCount
      else { throw .damaged(Damage(.head, "the head has values that no store writes")) }
      head = Head(version: version, epoch: epoch, root: root)
      pageCount = unsafe Int(clamping: bytes.integer(at: Offset.pageCount, UInt64.self))
      pageByteCount = unsafe Int(clamping: bytes.integer(at: Offset.pageByteCount, UInt64.self))
      // Each page has an address of its own for each of its units, which is below 2^48.
      guard pageCount <= nextAddress, pageByteCount / Extent.unitByteCount <= nextAddress else {
        throw .damaged(Damage(.head, "the head counts more pages than were ever written"))
      }
      metadata = unsafe Array(bytes[Offset.metadata...])
    }
  }

  extension [UInt8] {
    fileprivate mutating func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
      unsafe Swift.withUnsafeBytes(of: value.littleEndian) { bytes in
        unsafe replaceSubrange(offset..<(offset + bytes.count), with: bytes)
      }
    }

    fileprivate var withChecksum: [UInt8] {
      var bytes = self
      let checksum = unsafe bytes.withUnsafeBytes { unsafe Checksum.hash($0) }
      unsafe Swift.withUnsafeBytes(of: checksum.littleEndian) {
        unsafe bytes.append(contentsOf: $0)
      }
      return bytes
    }
  }

  extension UnsafeRawBufferPointer {
    fileprivate func integer<Value: FixedWidthInteger>(at offset: Int, _: Value.Type) -> Value {
      unsafe Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    /// The bytes before the checksum, which was compared.
    fileprivate func checked(
      smallest: Int, _ what: String
    ) throws(StoreError) -> UnsafeRawBufferPointer {
      guard count >= smallest + 8 else { throw .damaged(Damage(.head, "\(what) is too short")) }
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: self[..<(count - 8)])
      guard unsafe Checksum.hash(bytes) == integer(at: count - 8, UInt64.self) else {
        throw .damaged(Damage(.checksum, "\(what) does not match its checksum"))
      }
      return unsafe bytes
    }
  }
#endif
