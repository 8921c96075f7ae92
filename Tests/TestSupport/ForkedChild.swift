import CambiumCore
import Foundation

/// A child process made by `fork`, which Swift hides because little may be done in it.
public enum ForkedChild {
  /// Runs `body` in a child that ends with its result, and waits for it.
  ///
  /// Returns the status of the child's end, zero for one that returned zero, and -1 where there is no
  /// `fork`. A child that waits for ever, for a lock of a thread that it does not have, is ended by
  /// its alarm.
  public static func status(of body: () -> Int32) -> Int32 {
    typealias Fork = @convention(c) () -> pid_t
    guard let address = unsafe dlsym(nil, "fork") else { return -1 }
    let number = unsafe unsafeBitCast(address, to: Fork.self)()
    if number == 0 {
      // Threads of pools let no signal through, and their children inherit that.
      var signals = sigset_t()
      unsafe sigfillset(&signals)
      unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
      alarm(60)
      _exit(body())
    }
    var status: Int32 = -1
    unsafe waitpid(number, &status, 0)
    return status
  }

  /// Whether a child refuses to use `store`, which its parent opened at `path`.
  public static func refuses(_ store: some PageStore, path: String) -> Bool {
    let status = status {
      do throws(StoreError) {
        _ = try store.newestHead()
        return 1
      } catch {
        return error == .forked(path: path) ? 0 : 2
      }
    }
    return status == 0
  }
}
