import CambiumCore
import Synchronization

/// What every page codec promises, as cases that a test runs against one.
///
/// What the engine does with a codec over a store is in ``StoreContract``: give a ``StoreSubject`` the
/// codec.
public enum CodecContract {
  /// Holds `subject` against all promises, one after another.
  public static func check(_ subject: CodecSubject) -> [ContractResult] {
    cases.map { $0.check(subject) }
  }

  private static let byteCounts = [1, 2, 63, 64, 65, 1000, 4096, 8191, 20_000, 262_144]

  /// All promises.
  public static let cases: [ContractCase<CodecSubject>] = [
    ContractCase("it has a name that can be written down") { run in
      let names = try (0..<2).map { _ in try run.subject.make().name }
      run.expect(names[0] == names[1], "its name changes from \(names[0]) to \(names[1])")
      let isPlain = names[0].utf8.allSatisfy { (33...126).contains($0) }
      run.expect(!names[0].isEmpty && isPlain, "its name is '\(names[0])'")
      run.expect(names[0].utf8.count <= 64, "its name is longer than 64 bytes")
    },

    ContractCase("pages of every kind, length and content come back") { run in
      let (writer, reader) = try pair(run.subject)
      for kind in PageKind.allCases {
        for byteCount in byteCounts where kind == .keyLeaf || byteCount < 10_000 {
          for texture in Texture.allCases {
            let page = texture.bytes(byteCount, seed: UInt64(byteCount))
            let context = context(kind: kind)
            var body = try encode(page, kind, writer)
            let bodyByteCount = body.count
            run.expect(!body.isEmpty, "\(byteCount) bytes became none")
            try writer.seal(&body, context: context)
            run.expect(body.count == bodyByteCount, "sealing changed the length of a body")
            for padding in [0, -bodyByteCount & 63] {
              let stored = body + [UInt8](repeating: 0, count: padding)
              let opened = try open(stored, context, reader)
              run.expect(
                opened.prefix(byteCount).elementsEqual(page),
                "\(byteCount) bytes of \(texture) as \(kind) came back as others")
              let rest = opened.dropFirst(byteCount)
              run.expect(
                rest.count < 128 && rest.allSatisfy { $0 == 0 },
                "\(byteCount) bytes came back with \(rest.count) more")
            }
          }
        }
      }
    },

    ContractCase("the longest page that may be stored can be written and read") { run in
      let codec = try pair(run.subject).writer
      // Room for what a codec adds to bytes that cannot be made shorter.
      let page = Texture.noise.bytes(65_535 * 64 - 4096, seed: 1)
      var body = try encode(page, .overflow, codec)
      run.expect(body.count <= 65_535 * 64, "a body of \(body.count) bytes cannot be stored")
      try codec.seal(&body, context: context(kind: .overflow))
      let opened = try open(body, context(kind: .overflow), codec)
      run.expect(opened.prefix(page.count).elementsEqual(page), "other bytes")
    },

    ContractCase("a page read in another place is refused, or itself") { run in
      let codec = try pair(run.subject).writer
      let page = Texture.text.bytes(3000, seed: 2)
      let right = context(kind: .columnLeaf)
      var body = try encode(page, .columnLeaf, codec)
      try codec.seal(&body, context: right)
      for wrong in others(than: right) {
        do throws(StoreError) {
          let opened = try open(body, wrong, codec)
          run.expect(!run.subject.authenticates, "it opens a page in another place, \(wrong)")
          run.expect(
            opened.prefix(page.count).elementsEqual(page),
            "another place, \(wrong), shows other bytes")
        } catch {
          expectFailure(error, codec, run, "another place")
        }
      }
    },

    ContractCase("a body of which a bit was changed is refused, or at most another page") { run in
      let codec = try pair(run.subject).writer
      for texture in Texture.allCases {
        let page = texture.bytes(250, seed: 3)
        var body = try encode(page, .keyLeaf, codec)
        try codec.seal(&body, context: context(kind: .keyLeaf))
        for bit in 0..<(body.count * 8) {
          var changed = body
          changed[bit / 8] ^= 1 << UInt8(bit % 8)
          expectRefused(changed, codec, run, "bit \(bit) of \(body.count * 8), \(texture)")
        }
      }
    },

    ContractCase("bodies that were cut, continued or made up do no harm") { run in
      let codec = try pair(run.subject).writer
      let page = Texture.text.bytes(700, seed: 4)
      var body = try encode(page, .keyLeaf, codec)
      try codec.seal(&body, context: context(kind: .keyLeaf))
      for count in 0..<body.count {
        expectRefused(Array(body.prefix(count)), codec, run, "\(count) of \(body.count) bytes")
      }
      for seed in 0..<300 as Range<UInt64> {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 0...400, using: &generator)
        let start = Int.random(in: 0...min(40, body.count), using: &generator)
        let noise = generator.bytes(count: count)
        expectRefused(Array(body.prefix(start)) + noise, codec, run, "made up with seed \(seed)")
      }
    },

    ContractCase("the store's own records come back from where they were sealed, or are refused") {
      run in
      let (writer, reader) = try pair(run.subject)
      guard writer.recordOverhead > 0 else { return }
      run.expect(writer.recordOverhead <= 64, "it adds \(writer.recordOverhead) bytes to a record")
      for byteCount in [1, 100, 5000] {
        let record = Texture.text.bytes(byteCount, seed: 5)
        let context = RecordContext(role: 16, place: 3, version: 9)
        let sealed = writer.sealRecord(record, context: context)
        run.expect(
          sealed.count == byteCount + writer.recordOverhead, "a record became \(sealed.count) bytes"
        )
        let place = RecordContext(role: 16, place: 3)
        run.expect(try reader.openRecord(sealed, context: place) == record, "another record")
        var hostile = [
          (sealed, RecordContext(role: 17, place: 3)), (sealed, RecordContext(role: 16, place: 4)),
          ([], place), (Array(sealed.dropLast()), place), (sealed + [0], place),
        ]
        for index in sealed.indices {
          var changed = sealed
          changed[index] ^= 1 << UInt8(index % 8)
          hostile.append((changed, place))
        }
        for (bytes, context) in hostile {
          do throws(StoreError) {
            let opened = try reader.openRecord(bytes, context: context)
            run.expect(
              !run.subject.authenticates,
              "it opens a record of \(opened.count) bytes that it did not seal")
          } catch {
            expectFailure(error, reader, run, "a record")
          }
        }
      }
    },

    ContractCase("many threads may use it at once") { run in
      let codec = try pair(run.subject).writer
      run.inThreads(4) { index in
        var generator = SeededGenerator(seed: UInt64(index))
        for round in 0..<60 as Range<UInt64> {
          let kind = PageKind.allCases.randomElement(using: &generator) ?? .keyLeaf
          let texture = Texture.allCases.randomElement(using: &generator) ?? .text
          let page = texture.bytes(
            Int.random(in: 1...9000, using: &generator), seed: generator.next())
          var context = context(kind: kind)
          context.address = generator.next() >> 16
          context.born = round
          var body = try encode(page, kind, codec)
          try codec.seal(&body, context: context)
          let opened = try open(body, context, codec)
          run.expect(
            opened.prefix(page.count).elementsEqual(page), "thread \(index): others")
        }
      }
    },
  ]

  // MARK: Pages

  /// What the bytes of a page are like.
  private enum Texture: CaseIterable {
    case zeros, text, noise

    func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
      var generator = SeededGenerator(seed: seed)
      switch self {
      case .zeros: return [UInt8](repeating: 0, count: count)
      case .noise: return generator.bytes(count: count)
      case .text:
        let words = ["tree ", "leaf ", "page ", "root ", "branch "].map { Array($0.utf8) }
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += words.randomElement(using: &generator) ?? [] }
        return Array(bytes.prefix(count))
      }
    }
  }

  private static func context(kind: PageKind) -> PageContext {
    PageContext(storeHigh: 7, storeLow: 8, kind: kind, address: 4711, born: 42)
  }

  /// Contexts that differ from `context` in one thing.
  private static func others(than context: PageContext) -> [PageContext] {
    var others: [PageContext] = []
    func add(_ change: (inout PageContext) -> Void) {
      var other = context
      change(&other)
      others.append(other)
    }
    add { $0.storeHigh ^= 1 << 63 }
    add { $0.storeLow += 1 }
    add { $0.kind = .keyLeaf }
    add { $0.address += 1 }
    add { $0.address += 1 << 40 }
    add { $0.born += 1 }
    add { $0.born += 1 << 33 }
    return others
  }

  // MARK: One page

  /// Two codecs that are bound to one store, as those of two who open it.
  private static func pair(
    _ subject: CodecSubject
  ) throws(StoreError) -> (writer: any PageCodec, reader: any PageCodec) {
    let store = StoreNumber(high: 7, low: 8)
    let writer = try subject.make()
    let parameters = try writer.makeParameters(for: store)
    return (
      try writer.bound(to: store, parameters: parameters),
      try subject.make().bound(to: store, parameters: parameters)
    )
  }

  private static func encode(
    _ page: [UInt8], _ kind: PageKind, _ codec: any PageCodec
  ) throws(StoreError) -> [UInt8] {
    try codec.encode(page.span, kind: kind)
  }

  private static func open(
    _ body: [UInt8], _ context: PageContext, _ codec: any PageCodec
  ) throws(StoreError) -> [UInt8] {
    try codec.open(body.span, context: context).withBytes { Array(copying: $0) }
  }

  /// Notes a finding unless `body`, which the codec did not make, is refused, or is taken for a page
  /// of possible length by a codec that need not notice.
  private static func expectRefused(
    _ body: [UInt8], _ codec: any PageCodec, _ run: ContractRun<CodecSubject>, _ place: String
  ) {
    do throws(StoreError) {
      let opened = try open(body, context(kind: .keyLeaf), codec)
      run.expect(!run.subject.authenticates, "\(place): it was opened")
      run.expect(
        opened.count <= 65_536 * 64, "\(place): it became \(opened.count) bytes")
    } catch {
      expectFailure(error, codec, run, place)
    }
  }

  private static func expectFailure(
    _ error: StoreError, _ codec: any PageCodec, _ run: ContractRun<CodecSubject>, _ place: String
  ) {
    if case .codecFailure = error { return }
    run.note("\(place): it threw \(error)")
  }
}
