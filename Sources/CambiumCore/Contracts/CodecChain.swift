/// Codecs one after another: pages go through them in order, and come back in reverse.
///
/// Its name is that of its parts, joined by `+`. The last codec sees to the store's own records, and
/// seals what the others keep in the store.
///
/// Pointers: the page or body belongs to the caller for the length of a call. What a codec makes of it
/// is an array or a `PageBuffer` that is held here while the next one reads it, within its own
/// length.
public struct CodecChain: PageCodec {
  /// The codecs, in the order in which pages go through them.
  public let codecs: [any PageCodec]

  /// A chain of at least one codec.
  ///
  /// Only the last one may need to know a page's place: compress first, then encrypt.
  public init(_ codecs: [any PageCodec]) {
    precondition(!codecs.isEmpty, "A chain of codecs has at least one.")
    precondition(
      codecs.dropLast().allSatisfy { !$0.needsPlace && $0.recordOverhead == 0 },
      "Only the last codec of a chain may seal pages for their place: compress, then encrypt.")
    self.codecs = codecs
  }

  private var last: any PageCodec { codecs[codecs.count - 1] }

  /// The names of its parts, joined by `+`.
  public var name: String { codecs.map(\.name).joined(separator: "+") }
  /// As the last codec says.
  public var needsPlace: Bool { last.needsPlace }
  /// Whether any of its parts is.
  public var isSecret: Bool { codecs.contains { $0.isSecret } }

  // MARK: Pages

  /// Encodes with one codec after the other.
  public func encode(
    _ page: Span<UInt8>, kind: PageKind
  ) throws(StoreError) -> [UInt8] {
    var body = try codecs[0].encode(page, kind: kind)
    for codec in codecs.dropFirst() { body = try codec.encode(body.span, kind: kind) }
    return body
  }

  /// Seals with the last codec.
  public func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {
    try last.seal(&body, context: context)
  }

  /// Opens with one codec after the other, the last one first.
  public func open(
    _ body: Span<UInt8>, context: PageContext
  ) throws(StoreError) -> PageBuffer {
    var context = context
    context.isSecret = context.isSecret || isSecret
    var buffer = try last.open(body, context: context)
    for codec in codecs.dropLast().reversed() {
      buffer = try buffer.withBytes { bytes throws(StoreError) in
        try codec.open(bytes, context: context)
      }
    }
    return buffer
  }

  // MARK: Parameters

  /// The parameters of all parts, those of all but the last sealed by the last.
  public func makeParameters(for store: StoreNumber) throws(StoreError) -> [UInt8] {
    let lastParameters = try last.makeParameters(for: store)
    let sealer = try last.bound(to: store, parameters: lastParameters)
    var parameters: [UInt8] = []
    Self.append(lastParameters, to: &parameters)
    for (index, codec) in codecs.dropLast().enumerated() {
      var part = try codec.makeParameters(for: store)
      if sealer.recordOverhead > 0 {
        part = sealer.sealRecord(part, context: Self.context(ofPart: index))
      }
      Self.append(part, to: &parameters)
    }
    return parameters
  }

  /// The chain of its parts, each bound to the store.
  public func bound(
    to store: StoreNumber, parameters: [UInt8]
  ) throws(StoreError) -> any PageCodec {
    var rest = parameters[...]
    let sealer = try last.bound(to: store, parameters: try takePart(of: &rest))
    var bound: [any PageCodec] = []
    for (index, codec) in codecs.dropLast().enumerated() {
      var part = try takePart(of: &rest)
      if sealer.recordOverhead > 0 {
        part = try sealer.openRecord(part, context: Self.context(ofPart: index))
      }
      bound.append(try codec.bound(to: store, parameters: part))
    }
    return CodecChain(bound + [sealer])
  }

  private static func context(ofPart index: Int) -> RecordContext {
    RecordContext(role: RecordContext.parametersRole, place: UInt64(index))
  }

  private static func append(_ part: [UInt8], to parameters: inout [UInt8]) {
    unsafe withUnsafeBytes(of: UInt32(part.count).littleEndian) {
      unsafe parameters.append(contentsOf: $0)
    }
    parameters.append(contentsOf: part)
  }

  private func takePart(of rest: inout ArraySlice<UInt8>) throws(StoreError) -> [UInt8] {
    let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard rest.count >= 4, count <= rest.count - 4 else {
      throw .codecFailure(codec: name, reason: "what the store keeps for it is cut short")
    }
    let part = Array(rest.dropFirst(4).prefix(count))
    rest = rest.dropFirst(4 + count)
    return part
  }

  // MARK: Records

  /// As the last codec says.
  public var recordOverhead: Int { last.recordOverhead }

  /// Seals with the last codec.
  public func sealRecord(_ record: [UInt8], context: RecordContext) -> [UInt8] {
    last.sealRecord(record, context: context)
  }

  /// Opens with the last codec.
  public func openRecord(
    _ sealed: [UInt8], context: RecordContext
  ) throws(StoreError) -> [UInt8] {
    try last.openRecord(sealed, context: context)
  }
}
