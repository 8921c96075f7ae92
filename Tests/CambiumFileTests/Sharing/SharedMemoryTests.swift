import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// The shared memory as two users of one file see it; each has a lock file descriptor of its own, as
/// two processes have.
struct SharedMemoryTests {
  private let folder: TemporaryFolder
  private let first: SharedMemory
  private let second: SharedMemory
  private let identity = IdentitySector(codec: "")
  private let number = FileNumber(device: 1, inode: 2)

  init() throws {
    folder = try TemporaryFolder()
    first = try SharedMemory(path: folder.file("a"))
    first.reset(identity, number, .clean)
    second = try SharedMemory(path: folder.file("a"))
  }

  private func head(_ version: Version) -> HeadSector {
    var head = HeadSector(sequence: version, identity: identity)
    head.head = Head(version: version, epoch: 1, root: .empty(.key))
    return head
  }

  /// Pins `head` if it is the newest version, or is held already.
  private func holds(_ board: inout PinBoard, _ head: Head) -> Bool {
    board.hold(head, whileLive: first.liveVersion == head.version ? first.liveWord : 0)
  }

  // MARK: Identity

  @Test func `a lock file matches its file, boot and layout only`() throws {
    #expect(second.matches(identity, number))
    #expect(!second.matches(IdentitySector(codec: ""), number))
    #expect(!second.matches(identity, FileNumber(device: 1, inode: 3)))
    var layout = second.bytes(SharedLayout.layout, 8)
    layout[0] = 99
    second.put(layout, at: SharedLayout.layout)
    #expect(!first.matches(identity, number))
    #expect(first.layoutVersion(identity) == 99)
  }

  @Test func `a copy of a lock file does not match`() throws {
    try FileManager.default.copyItem(
      atPath: folder.file("a.lock"), toPath: folder.file("b.lock"))
    let copy = try SharedMemory(path: folder.file("b"))
    #expect(!copy.matches(identity, number))
    #expect(copy.layoutVersion(identity) == SharedLayout.version)
  }

  @Test func `an entry that is widened holds all that it held, and more on either side`() throws {
    let table = PinTable(memory: first)
    let entry = try #require(table.claim(ownerSlot: 0))
    table.set(entry, 5)
    for (version, expected) in [(3, 3...5), (9, 3...9), (4, 3...9), (1, 1...9)]
      as [(Version, ClosedRange<Version>)]
    {
      table.widen(entry, to: version)
      #expect(PinTable(memory: second).held() == [expected])
    }
  }

  @Test func `who counts itself out of those who wait leaves the count of later ones alone`() {
    let early = unsafe CommitSignal(words: first.word(SharedLayout.commits), of: first)
    early.countWaiters(1)
    // Somebody opens the file, who is alone.
    second.reset(identity, number, .clean)
    let late = unsafe CommitSignal(words: second.word(SharedLayout.commits), of: second)
    late.countWaiters(1)
    early.countWaiters(-1)
    #expect(unsafe second.word(SharedLayout.commits + 4).pointee.load(ordering: .relaxed) == 1)
  }

  @Test func `threads of one user change the table of users one after the other`() throws {
    let table = ProcessTable(memory: first)
    let own = try #require(try table.join(label: "own"))
    let other = try #require(try ProcessTable(memory: second).join(label: "other"))
    // The lock in the file does not keep threads apart that use one descriptor.
    first.users.withLock { _ in #expect(!table.clearDead(besides: own)) }
    #expect(table.clearDead(besides: own) && table.isUsed(other))
  }

  // MARK: Heads

  @Test func `the live head is the one that was published last`() throws {
    #expect(second.liveHead(identity) == nil)
    for version in 1...9 as ClosedRange<Version> {
      first.publish(head(version), identity)
      #expect(second.liveVersion == version)
      #expect(second.liveHead(identity) == head(version))
    }
  }

  @Test func `a writer that dies before the last step leaves the head before`() {
    first.publish(head(1), identity)
    first.publish(head(2), identity)
    // The place that the next head goes to, half written.
    let next = SharedLayout.liveHeads + Int(1 - first.liveWord & 1) * FileLayout.sectorByteCount
    first.put(Array(head(3).stored.prefix(200)), at: next)
    #expect(second.liveHead(identity)?.head.version == 2)
  }

  @Test func `the durable mark is the one that was published last`() {
    #expect(second.durableMark == nil)
    for sequence in 1...5 as ClosedRange<UInt64> {
      let mark = DurableMark(
        version: sequence * 2, slot: Int(sequence % 2), sequence: sequence)
      first.publish(mark)
      #expect(second.durableMark == mark)
    }
  }

  @Test func `a mark that tells of unsynced data, as earlier versions had it, is none`() {
    let mark = DurableMark(version: 4, slot: 1, sequence: 2)
    first.publish(mark)
    #expect(second.durableMark == mark)
    let place =
      SharedLayout.durableMarks
      + Int(first.durableWord & 1) * SharedLayout.durableMarkByteCount
    let stored = first.bytes(place, SharedLayout.durableMarkByteCount)
    let changed = StoredBytes(byteCount: stored.count) { fields in
      fields.store(stored, at: 0)
      fields.store(UInt64(1 | 2), at: 24)
      fields.store(fields.checksum(before: 72), at: 72)
    }
    first.put(changed.bytes, at: place)
    #expect(second.durableMark == nil)
  }

  // MARK: Processes

  @Test func `each user has a slot until it leaves`() throws {
    let a = ProcessTable(memory: first)
    let b = ProcessTable(memory: second)
    #expect(try a.join(label: "importer") == 0)
    #expect(try b.join(label: "reader") == 1)
    #expect(a.entries.map(\.slot) == [1])
    #expect(b.entries.map(\.label) == ["importer"])
    #expect(b.entries.first?.processNumber == UInt32(getpid()))
    a.leave(0)
    #expect(b.entries == [])
    #expect(try a.join(label: "") == 0)
  }

  @Test func `a label is cut at a whole character`() throws {
    let label = String(repeating: "é", count: 80)
    _ = try ProcessTable(memory: first).join(label: label)
    #expect(
      ProcessTable(memory: second).entries.map(\.label) == [String(repeating: "é", count: 47)])
  }

  @Test func `the slot and the pins of a user that died are given away`() throws {
    var memory: SharedMemory? = try SharedMemory(path: folder.file("a"))
    let table = ProcessTable(memory: second)
    second.publish(head(1), identity)
    do {
      let dying = try #require(memory)
      let slot = try #require(try ProcessTable(memory: dying).join(label: "dying"))
      var board = PinBoard(memory: dying, slot: slot)
      #expect(holds(&board, head(1).head))
      #expect(PinTable(memory: second).held() == [1...1])
    }
    let own = try #require(try table.join(label: "survivor"))
    #expect(own == 1)
    table.clearDead(besides: own)
    #expect(PinTable(memory: second).held() == [1...1])
    // Its descriptor closes, as at the death of a process, and with it the lock goes.
    memory = nil
    table.clearDead(besides: own)
    #expect(PinTable(memory: second).held() == [])
    #expect(!table.isUsed(0))
  }

  @Test func `when all slots are in use nobody else joins`() throws {
    var users: [SharedMemory] = []
    for _ in 0..<SharedLayout.Process.count {
      let user = try SharedMemory(path: folder.file("a"))
      users.append(user)
      #expect(try ProcessTable(memory: user).join(label: "") != nil)
    }
    #expect(try ProcessTable(memory: first).join(label: "") == nil)
    users.removeLast()
    #expect(try ProcessTable(memory: first).join(label: "") == SharedLayout.Process.count - 1)
  }

  // MARK: Pins

  @Test func `only the newest version can be pinned, and a pinned one again`() {
    var board = PinBoard(memory: first, slot: 0)
    first.publish(head(1), identity)
    #expect(holds(&board, head(1).head))
    first.publish(head(2), identity)
    #expect(holds(&board, head(1).head))
    #expect(holds(&board, head(2).head))
    #expect(PinTable(memory: second).held() == [1...1, 2...2])
    board.release(1)
    #expect(PinTable(memory: second).held() == [1...1, 2...2])
    board.release(1)
    #expect(!holds(&board, head(1).head))
    #expect(PinTable(memory: second).held() == [2...2])
    board.release(2)
    #expect(board.isEmpty)
    #expect(PinTable(memory: second).held() == [])
  }

  @Test func `the pins of all users are seen by each`() throws {
    var a = PinBoard(memory: first, slot: 0)
    var b = PinBoard(memory: second, slot: 1)
    first.publish(head(7), identity)
    #expect(holds(&a, head(7).head))
    #expect(holds(&b, head(7).head))
    let entries = PinTable(memory: first).entries()
    #expect(entries.map(\.ownerSlot) == [0, 1])
    #expect(entries.map(\.versions) == [7...7, 7...7])
    a.release(7)
    #expect(PinTable(memory: second).entries().map(\.ownerSlot) == [1])
  }

  @Test func `when entries run out one stands for a range`() {
    var board = PinBoard(memory: first, slot: 3)
    let capacity = SharedLayout.Pin.count - SharedLayout.Process.count + 1
    for version in 1...Version(capacity + 20) {
      first.publish(head(version), identity)
      #expect(holds(&board, head(version).head))
    }
    func isHeld(_ version: Version) -> Bool {
      PinTable(memory: second).held().contains { $0.contains(version) }
    }
    for version in 1...Version(capacity + 20) { #expect(isHeld(version)) }
    // Somebody else still finds an entry of its own.
    var other = PinBoard(memory: second, slot: 4)
    #expect(holds(&other, head(Version(capacity + 20)).head))
    other.release(Version(capacity + 20))
    for version in 1...Version(capacity) { board.release(version) }
    for version in Version(capacity + 1)...Version(capacity + 20) { #expect(isHeld(version)) }
    for version in Version(capacity + 1)...Version(capacity + 20) { board.release(version) }
    #expect(PinTable(memory: second).held() == [])
  }

  @Test func `random pins of three users agree with a model`() throws {
    var generator = SeededGenerator(seed: 88)
    var boards = [
      PinBoard(memory: first, slot: 0), PinBoard(memory: second, slot: 1),
      PinBoard(memory: first, slot: 2),
    ]
    var model: [[Version]] = [[], [], []]
    var newest: Version = 1
    first.publish(head(newest), identity)
    for _ in 0..<5000 {
      let user = Int.random(in: 0..<3, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        newest += 1
        first.publish(head(newest), identity)
      case 1:
        #expect(holds(&boards[user], head(newest).head))
        model[user].append(newest)
      default:
        guard let version = model[user].randomElement(using: &generator) else { continue }
        boards[user].release(version)
        model[user].remove(at: model[user].firstIndex(of: version)!)
      }
      let held = PinTable(memory: second).held()
      #expect(Set(held.map(\.lowerBound)) == Set(model.joined()))
      #expect(held.allSatisfy { $0.count == 1 })
    }
  }

  @Test func `a reader that pins while a writer publishes is either seen or knows`() {
    let (writer, reader, identity) = (first, second, identity)
    writer.publish(head(1), identity)
    let progress = ReaderProgress()
    let ended = DispatchSemaphore(value: 0)
    Thread {
      var board = PinBoard(memory: reader, slot: 1)
      while !progress.isOver.withLock({ $0 }) {
        guard let live = reader.live(identity),
          board.hold(live.head.head, whileLive: live.word)
        else { continue }
        progress.reading.withLock { $0 = live.version }
        progress.reading.withLock { $0 = nil }
        board.release(live.version)
      }
      ended.signal()
    }.start()
    for version in 2...20_000 as ClosedRange<Version> {
      writer.publish(head(version), identity)
      let held = PinTable(memory: writer).held()
      // A version that is superseded and read now was pinned before it was superseded, thus before
      // the look at the pins.
      if let current = progress.reading.withLock({ $0 }), current < version {
        #expect(held.contains { $0.contains(current) })
      }
    }
    progress.isOver.withLock { $0 = true }
    ended.wait()
  }
}

private final class ReaderProgress: Sendable {
  let reading = Mutex<Version?>(nil)
  let isOver = Mutex(false)
}
