import CambiumCore

/// What a commit is.
extension StoreContract {
  private static let longestPageByteCount = 65_535 * Extent.unitByteCount

  static let publishing: [ContractCase<StoreSubject>] = [
    ContractCase("a new store is empty and says what it is") { run in
      let place = try run.place()
      let store = try run.open()
      let head = try store.newestHead()
      run.expect(head.version == 0 && head.root.isEmpty, "its newest head is \(head)")
      run.expect(try store.pin().head == head, "a pin is of another version than the newest head")
      let identity = store.identity
      run.expect(!identity.kind.isEmpty, "its kind has no name")
      run.expect(identity.codec == place.codecName, "it records the codec '\(identity.codec)'")
      run.expect(!identity.isReadOnly, "it says that it is only read")
      let other = try run.open("other")
      run.expect(other.identity.uuid != identity.uuid, "two stores have the same identity")
      let statistics = try store.statistics()
      run.expect(statistics.newestVersion == 0, "statistics name version \(statistics)")
      run.note(try store.check(reachable: []))
    },

    ContractCase("pages of every length come back as they went") { run in
      let store = try run.open()
      let writer = try store.beginWrite()
      var pages: [(reference: PageReference, bytes: [UInt8])] = []
      for byteCount in [1, 63, 64, 65, 4095, 4096, 4097, 70_000, longestPageByteCount] {
        var generator = SeededGenerator(seed: UInt64(byteCount))
        var bytes = generator.bytes(count: byteCount)
        let reference = try FakeTree.write(bytes, writer)
        run.expect(
          reference.unitCount == Extent.unitCount(forByteCount: byteCount),
          "\(byteCount) bytes were given \(reference.unitCount) units")
        bytes += [UInt8](repeating: 0, count: reference.byteCount - byteCount)
        pages.append((reference, bytes))
      }
      func compare(_ moment: String, _ pin: Pin) throws(StoreError) {
        for (reference, bytes) in pages {
          run.expect(
            try run.holds(store, pin, reference, bytes),
            "\(moment): other bytes than the \(bytes.count) that were written")
        }
      }
      try compare("before publishing", try store.pin())
      let extents = pages.map(\.reference.extent).sorted { $0.address < $1.address }
      for (left, right) in zip(extents, extents.dropFirst()) {
        run.expect(left.end <= right.address, "pages overlap at unit \(right.address)")
      }
      run.expect(extents.allSatisfy { $0.end < 1 << 48 }, "an address takes more than 48 bits")
      let root = TreeRoot(
        reference: pages[0].reference, height: 1, kind: .key, rowCount: UInt64(pages.count))
      let pin = try writer.publish(root: root, durability: .full, metadata: [])
      try compare("after publishing", pin)
      run.note(try store.check(reachable: extents))
    },

    ContractCase("the latest commits keep what they were given") { run in
      let store = try run.open()
      func given(_ version: Version) -> [UInt8] {
        var generator = SeededGenerator(seed: version)
        return version % 3 == 0 ? [] : generator.bytes(count: Int(version * version) % 3_000)
      }
      let count = Version(2 * CommitMetadata.keptCount + 40)
      var generator = SeededGenerator(seed: 1)
      var old: Pin?
      for version in 1...count {
        let writer = try store.beginWrite()
        let (root, _) = try FakeTree.change(writer, store, changeCount: 1, generator: &generator)
        let durability: Durability = version % 7 == 0 ? .full : .relaxed
        let pin = try writer.publish(
          root: root, durability: durability, metadata: given(version))
        if version == count - 20 { old = pin }
        let kept = min(version, Version(run.subject.keptMetadataCount))
        for length in [0, 1, kept / 2, kept, min(version, kept + 100)] {
          let first = version + 1 - length
          let found = try store.metadata(from: first, through: pin)
          run.expect(
            found != nil || kept == 0 || length > kept,
            "of versions \(first) to \(version) nothing is known")
          guard let found else { continue }
          run.expect(
            found.map(\.version) == Array(first..<(version + 1))
              && found.allSatisfy { $0.bytes == given($0.version) && $0.epoch <= pin.head.epoch },
            "of versions \(first) to \(version) it says \(found.map(\.version))")
        }
      }
      if let old, let found = try store.metadata(from: old.head.version, through: old) {
        run.expect(found.map(\.bytes) == [given(count - 20)], "an older pin leads to \(found)")
      }
      old = nil
      try store.close()
      guard run.subject.isPersistent else { return }
      let again = try run.open()
      let kept = Version(run.subject.keptMetadataCount)
      let found = try again.metadata(from: count + 1 - kept, through: again.pin())
      run.expect(
        found?.map(\.bytes) == (count + 1 - kept..<count + 1).map(given) || kept == 0,
        "after opening again it does not know what the commits were given")
    },

    ContractCase("a commit is the next version, seen by all that ask later") { run in
      let store = try run.open()
      var generator = SeededGenerator(seed: 1)
      for round in 1...5 as ClosedRange<Version> {
        let writer = try store.beginWrite()
        run.expect(writer.base == (try store.newestHead()), "a write began at an older version")
        run.expect(writer.version == round, "the version to be made is \(writer.version)")
        let (root, content) = try FakeTree.change(
          writer, store, changeCount: 4, generator: &generator)
        let before = try store.newestHead()
        run.expect(before.version == round - 1, "a running write is seen")
        let pin = try writer.publish(root: root, durability: .full, metadata: [1, 2, 3])
        run.expect(pin.head.version == round, "the returned pin holds \(pin.head.version)")
        run.expect(pin.head.root == root, "the returned pin has another root")
        run.expect(pin.head.epoch >= before.epoch, "the epoch fell")
        run.expect(try store.newestHead() == pin.head, "the newest head is another one")
        run.expect(try store.pin().head == pin.head, "a later pin holds another version")
        run.expect(
          try store.statistics().newestVersion == round, "statistics name another version")
        try run.expectContent(store, content, "version \(round)")
      }
    },

    ContractCase("an extent can be written again until it is published") { run in
      let store = try run.open()
      let writer = try store.beginWrite()
      let before = try store.pin()
      let extent = try writer.allocate(byteCount: 256)
      for byte in 1...3 as ClosedRange<UInt8> {
        let bytes = [UInt8](repeating: byte, count: 256)
        let checksum = Checksum.hash(bytes.span)
        try writer.write(bytes.span, to: extent, checksum: checksum)
        let reference = PageReference(
          checksum: checksum, extent: extent, kind: .overflow, born: writer.version)
        run.expect(try run.holds(store, before, reference, bytes), "old bytes")
        if byte < 3 { continue }
        let root = TreeRoot(reference: reference, height: 1, kind: .key, rowCount: 1)
        let pin = try writer.publish(root: root, durability: .full, metadata: [])
        run.expect(
          try run.holds(store, pin, pin.head.root.reference, bytes), "old bytes after publishing")
      }
    },

    ContractCase("a write that is aborted or let go leaves no trace") { run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 2)
      for _ in 0..<4 { try model.commit() }
      var generator = SeededGenerator(seed: 3)
      var sizes: [Int] = []
      for round in 0..<40 {
        do {
          let writer = try store.beginWrite()
          run.expect(writer.version == 5, "an aborted write used up a version")
          _ = try FakeTree.change(writer, store, changeCount: 30, generator: &generator)
          if round.isMultiple(of: 2) { writer.abort() }
        }
        sizes.append(try store.statistics().totalByteCount)
      }
      run.expect(
        sizes[39] <= sizes[0] + run.subject.slackByteCount, "aborted writes take room: \(sizes)")
      try model.check("after aborts")
      run.note(model.findings)
      try model.commit()
      run.expect(try store.newestHead().version == 5, "the next commit is not the next version")
    },

    ContractCase("a page taken back before it was published is not missed") { run in
      let store = try run.open()
      let writer = try store.beginWrite()
      let kept = try FakeTree.write([1, 2, 3], writer)
      for seed in 0..<20 as Range<UInt64> {
        writer.free(try FakeTree.write(FakeTree.bytes(seed: seed), writer))
      }
      let root = TreeRoot(reference: kept, height: 1, kind: .key, rowCount: 1)
      _ = try writer.publish(root: root, durability: .full, metadata: [])
      run.note(try store.check(reachable: [kept.extent]))
    },

    ContractCase("what is too large is refused, and nothing else") { run in
      let store = try run.open()
      let writer = try store.beginWrite()
      run.expectError("a page that no reference can name", isTooLarge) { () throws(StoreError) in
        _ = try writer.allocate(byteCount: longestPageByteCount + 1)
      }
      run.expectError("more than 64 KiB of metadata", isTooLarge) { () throws(StoreError) in
        _ = try writer.publish(
          root: .empty(.key), durability: .full,
          metadata: [UInt8](repeating: 0, count: (64 << 10) + 1))
      }
      run.expect(try store.newestHead().version == 0, "a refused commit is there")
      let next = try store.beginWrite()
      _ = try next.publish(
        root: .empty(.key), durability: .full, metadata: [UInt8](repeating: 0, count: 64 << 10))
      run.expect(try store.newestHead().version == 1, "the next commit did not take place")
    },

    ContractCase("reserving is a hint") { run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 4)
      try model.commit()
      for byteCount in [0, 1, 10 << 20] {
        let writer = try store.beginWrite()
        try writer.reserve(byteCount: byteCount)
        _ = try writer.allocate(byteCount: 100)
        writer.abort()
      }
      try model.commit()
      try model.check("after hints")
      run.note(model.findings)
      let bound = try run.reachableByteCount(store) + run.subject.slackByteCount + (1 << 20)
      let total = try store.statistics().totalByteCount
      run.expect(total < bound + (10 << 20), "room that was only reserved stays taken: \(total)")
    },

    ContractCase("pages that are announced come back as they went, and may be announced in vain") {
      run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 6)
      for _ in 0..<3 { try model.commit() }
      run.expect(store.readAheadCount >= 0, "\(store.readAheadCount) pages are to be known")
      let pin = try store.pin()
      let reading = try FakeTree.read(pin, store)
      let outside = PageReference(
        checksum: 1, extent: Extent(address: 1 << 40, unitCount: 1), kind: .overflow,
        born: pin.head.version)
      for batch in [[], [pin.head.root.reference], reading.children, [outside, outside]] {
        store.prefetch(Array(batch.prefix(max(1, store.readAheadCount))), at: pin)
      }
      run.expect(try FakeTree.read(pin, store).content == reading.content, "other bytes")
      // Announced for a version that newer ones have followed.
      for _ in 0..<3 { try model.commit() }
      store.prefetch(Array(reading.children.prefix(max(1, store.readAheadCount))), at: pin)
      run.expect(try FakeTree.read(pin, store).content == reading.content, "other old bytes")
      run.expectError("reading what was announced in vain", isDamage) { () throws(StoreError) in
        _ = try store.read(outside, at: pin)
      }
    },

    ContractCase("a reference that leads outside of the store is damage") { run in
      let store = try run.open()
      try StoreModel(store, seed: 5).commit()
      let pin = try store.pin()
      for address in [1 << 40, (1 << 48) - 2] as [UInt64] {
        let reference = PageReference(
          checksum: 1, extent: Extent(address: address, unitCount: 1), kind: .overflow,
          born: pin.head.version)
        run.expectError("reading unit \(address)", isDamage) { () throws(StoreError) in
          _ = try store.read(reference, at: pin)
        }
      }
    },

    ContractCase("a version's books can be compared with it however many versions follow") {
      run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 7)
      for _ in 0..<3 { try model.commit() }
      let audit = try store.audit()
      let extents = try FakeTree.read(audit.pin, store).extents
      for _ in 0..<5 { try model.commit() }
      let writer = try store.beginWrite()
      run.note(try audit.findings(reachable: extents))
      run.expect(
        try audit.findings(reachable: Array(extents.dropLast())) != [], "a lost page is not found")
      writer.abort()
    },

    ContractCase("checking finds pages that are missing and pages that are lost") { run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 6)
      for _ in 0..<6 { try model.commit() }
      var extents = try FakeTree.read(store).extents
      run.note(try store.check(reachable: extents))
      let last = extents.removeLast()
      run.expect(try store.check(reachable: extents) != [], "a lost page is not found")
      let far = Extent(address: last.end + (1 << 30), unitCount: 4)
      run.expect(
        try store.check(reachable: extents + [last, far]) != [], "a missing page is not found")
    },
  ]

  static func isTooLarge(_ error: StoreError) -> Bool {
    if case .tooLarge = error { true } else { false }
  }

  static func isDamage(_ error: StoreError) -> Bool {
    if case .damaged = error { true } else { false }
  }
}
