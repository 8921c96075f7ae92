import Dispatch
import Testing

@testable import CambiumCore

/// Signals of more files than the system waits for at a time.
@Suite struct SignalWatchWhiteBoxTests {
  @Test func `signals beyond what the system waits for at a time are seen as well`() {
    let watch = SignalWatch()
    let count = 2 * CommitSignal.waitLimit
    #expect(CommitSignal.waitLimit == 128)
    let signals = (0..<count).map { _ in CommitSignal() }
    let seen = DispatchSemaphore(value: 0)
    let numbers = signals.map { signal in
      watch.add(signal) { if signal.raiseCount > 0 { seen.signal() } }
    }
    for signal in [signals[count - 1], signals[0]] {
      // The first call may be that of the first look; the second one is that of a signal.
      for _ in 0..<2 {
        signal.raise()
        seen.wait()
      }
    }
    for number in numbers { if let number { watch.remove(number) } }
  }
}
