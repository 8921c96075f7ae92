import Foundation

/// A child process made by `fork`, which Swift hides because little may be done in it.
public enum ForkedChild {
  /// Runs `body` in a child that ends with its result, and waits for it; the status of its end, zero
  /// for a child that returned zero, and -1 where there is no `fork`.
  public static func status(of body: () -> Int32) -> Int32 {
    typealias Fork = @convention(c) () -> pid_t
    guard let address = dlsym(nil, "fork") else { return -1 }
    let number = unsafeBitCast(address, to: Fork.self)()
    if number == 0 { _exit(body()) }
    var status: Int32 = -1
    waitpid(number, &status, 0)
    return status
  }
}
