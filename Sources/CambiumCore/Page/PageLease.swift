#if DEBUG
  import Synchronization

  /// Whether the pages that a source has lent may still be read: in debug builds alone, where a row or leaf that is
  /// used after its snapshot or transaction stops the program in place of reading what lies there by then.
  ///
  /// A number, so that rows stay values without references. It names a slot of a table and how often that was
  /// taken and left; where all slots are taken, nothing is checked.
  @usableFromInline struct PageLease: BitwiseCopyable, Sendable {
    @usableFromInline let number: UInt64

    private static let slotCount = 1 << 12
    /// How often each slot was taken and left: odd while it is taken.
    ///
    /// Unchecked: atomics in memory that is never given back.
    private nonisolated(unsafe) static let slots = {
      let slots = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: slotCount)
      for slot in 0..<slotCount { unsafe (slots + slot).initialize(to: Atomic(0)) }
      return unsafe slots
    }()
    private static let next = Atomic(0)

    /// Of pages that are not lent by a source: never over.
    @usableFromInline static let none = PageLease(number: 0)

    /// Begins one.
    static func begin() -> PageLease {
      for _ in 0..<64 {
        let slot = next.add(1, ordering: .relaxed).newValue & (slotCount - 1)
        let count = unsafe slots[slot].load(ordering: .relaxed)
        guard count & 1 == 0 else { continue }
        let isTaken = unsafe slots[slot].compareExchange(
          expected: count, desired: count + 1, ordering: .acquiringAndReleasing
        ).exchanged
        if isTaken { return PageLease(number: (count + 1) << 12 | UInt64(slot)) }
      }
      return none
    }

    /// Ends it: the bytes may be gone.
    func end() {
      if number == 0 { return }
      let slot = Int(number & UInt64(Self.slotCount - 1))
      _ = unsafe Self.slots[slot].compareExchange(
        expected: number >> 12, desired: (number >> 12) + 1, ordering: .acquiringAndReleasing)
    }

    /// Stops when it has ended.
    @usableFromInline func check() {
      if number == 0 { return }
      let slot = Int(number & UInt64(Self.slotCount - 1))
      unsafe precondition(
        Self.slots[slot].load(ordering: .acquiring) == number >> 12,
        "A page, leaf or row was used after the snapshot or transaction that it was read from; keep that, or read again."
      )
    }
  }
#endif
