#if RADOS
  import CambiumCluster
  import CambiumCore
  import CambiumRADOS
  import Foundation
  import Synchronization
  import Testing

  /// The objects of a pool, in a cluster that the tests start: only where they are asked to
  /// (`CAMBIUM_RADOS=1`).
  @Suite(.serialized, .enabled(if: TestCluster.isWanted), .timeLimit(.minutes(5)))
  struct RadosTests {
    /// Each operation by itself, and many at once.
    struct ObjectsTests {
      private let cluster = TestCluster.shared
      private let objects: RadosObjects

      init() throws { objects = try TestCluster.shared.objects() }

      // MARK: Reading and writing

      @Test func `what is written is read, and gaps are zeros`() throws {
        _ = try objects.perform(.write(name: "a", offset: 4, bytes: [1, 2, 3]))
        #expect(try objects.read("a", 0..<7) == [[0, 0, 0, 0, 1, 2, 3]])
        _ = try objects.perform(.write(name: "a", offset: 5, bytes: [9]))
        #expect(try objects.read("a", 4..<7) == [[1, 9, 3]])
      }

      @Test func `writing nothing makes an object, and changes none`() throws {
        _ = try objects.perform(.write(name: "a", offset: 9, bytes: []))
        #expect(try objects.read("a", 0..<20) == [[]])
        _ = try objects.perform(.write(name: "a", offset: 0, bytes: [1]))
        _ = try objects.perform(.write(name: "a", offset: 0, bytes: []))
        #expect(try objects.read("a", 0..<20) == [[1]])
      }

      @Test func `ranges come in their order, without what is behind the end`() throws {
        _ = try objects.perform(.create(name: "a", bytes: Array(0..<100)))
        let read = try objects.read("a", 50..<60, 0..<2, 98..<120, 7..<7, 100..<101, 500..<600)
        #expect(read == [Array(50..<60), [0, 1], [98, 99], [], [], []])
        #expect(try objects.read("a", 3..<3) == [[]])
        #expect(try objects.read("a") == [])
      }

      @Test func `behind what was read are zeros, however short it is`() throws {
        _ = try objects.perform(.create(name: "a", bytes: Array(repeating: 255, count: 4096)))
        let ranges = [0..<4096, 0..<100, 4000..<5000]
        guard case .bytes(let buffers) = try objects.perform(.read(name: "a", ranges: ranges))
        else {
          Issue.record("no bytes")
          return
        }
        #expect(buffers.map(\.byteCount) == [4096, 100, 96])
        for buffer in buffers {
          let all = unsafe UnsafeRawBufferPointer(
            start: buffer.bytes, count: buffer.byteCount + 64)
          #expect(unsafe all.prefix(buffer.byteCount).allSatisfy { $0 == 255 })
          #expect(unsafe all.suffix(64).allSatisfy { $0 == 0 })
        }
      }

      @Test func `four mebibytes are written and read whole`() throws {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<(4 << 20)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        _ = try objects.perform(.create(name: "a", bytes: bytes))
        #expect(try objects.read("a", 0..<bytes.count) == [bytes])
        #expect(
          try objects.read("a", 1_000_000..<1_000_010) == [Array(bytes[1_000_000..<1_000_010])])
      }

      @Test func `an object is made once`() throws {
        _ = try objects.perform(.create(name: "a", bytes: [1]))
        #expect(objects.failure(.create(name: "a", bytes: [2])) == .exists)
        #expect(try objects.read("a", 0..<9) == [[1]])
        _ = try objects.perform(.create(name: "b", bytes: []))
        #expect(objects.failure(.create(name: "b", bytes: [])) == .exists)
      }

      @Test func `what is missing is neither read, swapped nor removed`() throws {
        #expect(objects.failure(.read(name: "a", ranges: [0..<1])) == .missing)
        #expect(objects.failure(.read(name: "a", ranges: [0..<0])) == .missing)
        #expect(objects.failure(.read(name: "a", ranges: [])) == .missing)
        #expect(objects.failure(.remove(name: "a")) == .missing)
        for expected: [UInt8] in [[], [0], [1]] {
          let swap = ObjectSwap(offset: 0, expected: expected, change: .replace([1]))
          #expect(objects.failure(.swap(name: "a", swap)) == .missing)
        }
        _ = try objects.perform(.create(name: "a", bytes: [1]))
        _ = try objects.perform(.remove(name: "a"))
        #expect(objects.failure(.remove(name: "a")) == .missing)
      }

      @Test func `all names are listed, and no others' and no locks`() throws {
        let other = try cluster.objects()
        _ = try other.perform(.create(name: "other", bytes: []))
        objects.watch { _ in }
        _ = try objects.perform(.lock(name: "l", holder: "h", isShared: false, seconds: 1))
        #expect(try objects.names(.list) == [])
        let names = (0..<300).map { "object.\($0)" }
        for result in objects.perform(names.map { .create(name: $0, bytes: []) }) {
          #expect(throws: Never.self) { try result.get() }
        }
        #expect(try objects.names(.list) == names.sorted())
        #expect(try other.names(.list) == ["other"])
      }

      @Test func `what the cluster does not take is refused, with its words`() throws {
        let request = ObjectRequest.write(name: "a", offset: 1 << 40, bytes: [1])
        guard case .refused(let text) = objects.failure(request) else {
          Issue.record("it was not refused")
          return
        }
        #expect(text.contains("File too large"))
      }

      // MARK: Swapping

      @Test func `a swap changes what holds what is expected`() throws {
        _ = try objects.perform(.create(name: "a", bytes: [1, 2, 3, 4]))
        var swap = ObjectSwap(
          offset: 1, expected: [2, 3], change: .write([(0, [9]), (6, [8, 8]), (2, [])]))
        _ = try objects.perform(.swap(name: "a", swap))
        #expect(try objects.read("a", 0..<9) == [[9, 2, 3, 4, 0, 0, 8, 8]])
        swap.change = .replace([7])
        _ = try objects.perform(.swap(name: "a", swap))
        #expect(try objects.read("a", 0..<9) == [[7]])
        swap = ObjectSwap(offset: 0, expected: [7], change: .replace([]))
        _ = try objects.perform(.swap(name: "a", swap))
        #expect(try objects.read("a", 0..<9) == [[]])
        swap = ObjectSwap(offset: 0, expected: [], change: .write([]))
        _ = try objects.perform(.swap(name: "a", swap))
      }

      @Test(arguments: [0, 1, 5000, 9999])
      func `a swap leaves what holds something else`(place: Int) throws {
        let bytes = [UInt8](repeating: 1, count: 10_000)
        _ = try objects.perform(.create(name: "a", bytes: bytes))
        var expected = bytes
        expected[place] = 2
        let swap = ObjectSwap(offset: 0, expected: expected, change: .replace([3]))
        #expect(objects.failure(.swap(name: "a", swap)) == .mismatch)
        #expect(try objects.read("a", 0..<10_001) == [bytes])
        let behind = ObjectSwap(offset: 9_999, expected: [1, 1], change: .replace([3]))
        #expect(objects.failure(.swap(name: "a", behind)) == .mismatch)
      }

      @Test func `of swaps at a time exactly one takes place`() throws {
        let others = try (0..<3).map { _ in try cluster.objects(objects.name) }
        _ = try objects.perform(.create(name: "a", bytes: [0, 0]))
        for round in 0..<UInt8(30) {
          let calls = (0..<UInt8(12)).map { index in
            let call = ObjectCall()
            let swap = ObjectSwap(
              offset: 0, expected: [round], change: .write([(0, [round + 1]), (1, [index])]))
            ([objects] + others)[Int(index) % 4].start(.swap(name: "a", swap), call)
            return call
          }
          calls.forEach { $0.waitForAnswer() }
          let winners = calls.indices.filter { (try? calls[$0].result.get()) != nil }
          #expect(winners.count == 1)
          #expect(calls.filter { $0.result.failure == .mismatch }.count == 11)
          #expect(try objects.read("a", 0..<2) == [[round + 1, UInt8(winners[0])]])
        }
      }

      @Test func `of creations at a time exactly one takes place`() throws {
        let other = try cluster.objects(objects.name)
        for round in 0..<20 {
          let calls = (0..<8).map { index in
            let call = ObjectCall()
            (index % 2 == 0 ? objects : other).start(
              .create(name: "\(round)", bytes: [UInt8(index)]), call)
            return call
          }
          calls.forEach { $0.waitForAnswer() }
          let winners = calls.indices.filter { (try? calls[$0].result.get()) != nil }
          #expect(winners.count == 1)
          #expect(try objects.read("\(round)", 0..<9) == [[UInt8(winners[0])]])
        }
      }

      @Test func `ranges that are read together are of one moment`() throws {
        let size = 1 << 20
        _ = try objects.perform(.create(name: "a", bytes: Array(repeating: 0, count: size)))
        let isDone = Atomic(false)
        let reader = try cluster.objects(objects.name)
        let readCount = Atomic(0)
        let thread = Thread {
          while !isDone.load(ordering: .acquiring) {
            let read = try? reader.read("a", 0..<8, 500_000..<500_008, (size - 8)..<size)
            #expect(Set((read ?? []).joined()).count == 1)
            readCount.add(1, ordering: .relaxed)
          }
        }
        thread.start()
        while readCount.load(ordering: .relaxed) == 0 { usleep(1_000) }
        for round in 0..<UInt8(100) {
          let next = [UInt8](repeating: round + 1, count: 8)
          let parts = [0, 500_000, size - 8].map { (offset: $0, bytes: next) }
          let swap = ObjectSwap(
            offset: 0, expected: Array(repeating: round, count: 8), change: .write(parts))
          _ = try objects.perform(.swap(name: "a", swap))
        }
        isDone.store(true, ordering: .releasing)
        while !thread.isFinished { usleep(1_000) }
        #expect(readCount.load(ordering: .relaxed) > 1)
      }
    }
  }

  extension RadosObjects {
    /// The store's name, for another connection to it.
    var name: String { String(path.dropFirst("rados:db/".count)) }
  }

  extension Result where Success == ObjectAnswer, Failure == ObjectFailure {
    /// Why it failed.
    var failure: ObjectFailure? { if case .failure(let failure) = self { failure } else { nil } }
  }
#endif
