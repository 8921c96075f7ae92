import Hummingbird
import HummingbirdCore
import NIOCore

/// What clients may take of the server.
enum ServerLimits {
  /// So many connections are taken; others wait until one ends.
  static let connectionCount = 256
  /// A client that sends nothing for so long is let go.
  private static let idleTimeout = TimeAmount.seconds(10)
  /// A client that does not take more of an answer, where more waits than the system keeps for it, is let go after so
  /// long.
  static let answerTime = TimeAmount.seconds(30)
  /// A body has to be there after so long.
  static let bodyTime = Duration.seconds(10)

  static var channel: HTTP1Channel.Configuration {
    HTTP1Channel.Configuration(
      additionalChannelHandlers: [UnreadAnswers()],
      idleTimeout: idleTimeout,
      httpDecoderConfiguration: .init(
        maxHeaderFieldSize: 32 << 10, maxHeaderListSize: 64 << 10, maxHeaderFieldCount: 100))
  }
}
