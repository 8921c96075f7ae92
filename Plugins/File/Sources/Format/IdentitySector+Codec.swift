import CambiumCore

/// Binding a codec to a file: when it is made, and each time it is opened.
extension IdentitySector {
  /// The identity of a new file for `codec`, the codec bound to it, and what the file keeps for it.
  static func made(
    for codec: (any PageCodec)?, number: StoreNumber
  ) throws(StoreError) -> (identity: IdentitySector, parameters: [UInt8]) {
    let name = codec?.name ?? ""
    let limit = FileLayout.Identity.codecByteCount
    guard name.utf8.count <= limit else {
      throw .tooLarge(what: "A codec's name", byteCount: name.utf8.count, limit: limit)
    }
    var identity = IdentitySector(codec: name, number: number)
    guard let codec else { return (identity, []) }
    let parameters = try codec.makeParameters(for: identity.number)
    try StoreLimits.check(parameters: parameters, codec: name)
    identity.parameterByteCount = parameters.count
    identity.parameters = parameters
    identity.parameterChecksum = unsafe parameters.withUnsafeBytes { unsafe Checksum.hash($0) }
    let bound = try codec.bound(to: identity.number, parameters: parameters)
    identity.seal = RecordSeal(bound)
    if !parameters.isEmpty || identity.seal != nil {
      identity.readFeatures |= FileLayout.codecFeature
    }
    return (identity, parameters)
  }

  /// Binds `codec`, whose name is that of the file's codec, to the file behind `device`.
  ///
  /// Throws `StoreError.damaged(_:)` when what the file keeps for it is not whole, and what the codec
  /// throws when it was made with another key.
  mutating func bind(
    _ codec: (any PageCodec)?, _ device: any Device, path: String
  ) throws(StoreError) -> (any PageCodec)? {
    guard let codec else { return nil }
    var parameters: [UInt8] = []
    if parameterByteCount > 0 {
      let buffer = try device.readPage(
        at: FileLayout.initialByteCount, byteCount: parameterByteCount, path: path)
      guard unsafe Checksum.hash(buffer.bytes, buffer.byteCount) == parameterChecksum else {
        throw .damaged(
          Damage(.checksum, "what is kept for codec \(codec.name), at byte 16384, is not whole"))
      }
      parameters = StoredBytes(buffer).bytes
    }
    let bound = try codec.bound(to: number, parameters: parameters)
    self.parameters = parameters
    seal = RecordSeal(bound)
    return bound
  }
}
