extension Database {
  /// Every page that the newest version reaches, in the order of the walk.
  ///
  /// Those below a damaged page are missing; see ``verify(progress:)``.
  package func pages() throws(StoreError) -> [PageReference] {
    var verifier = Verifier(snapshot: try snapshot(), keepsReferences: true, progress: nil)
    verifier.run()
    return verifier.references ?? []
  }

  /// Packed pages of the newest version, as codecs see them: about `byteCount` bytes of them, spread
  /// over all of it.
  ///
  /// For training dictionaries. Throws when a page cannot be read.
  ///
  /// Pointers: a page is kept until its bytes are copied.
  public func samplePages(byteCount: Int) throws(StoreError) -> [[UInt8]] {
    let snapshot = try snapshot()
    var verifier = Verifier(snapshot: snapshot, keepsReferences: true, progress: nil)
    verifier.run()
    if let first = verifier.report.findings.first {
      throw .damaged(Damage(.reference, "its pages cannot be sampled: \(first)"))
    }
    let references = verifier.references ?? []
    let total = references.reduce(0) { $0 + $1.byteCount }
    let step = max(1, total / max(1, byteCount))
    var samples: [[UInt8]] = []
    for index in stride(from: 0, to: references.count, by: step) {
      let reference = references[index]
      guard let kind = PageKind(rawValue: reference.rawKind) else { continue }
      let page = try snapshot.source.page(reference, kind)
      samples.append(withExtendedLifetime(page) { unsafe Array(page.buffer) })
    }
    return samples
  }
}
