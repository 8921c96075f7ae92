import NIOCore

/// Lets a client go that does not take what it has asked for: what waits for it holds memory and one of the
/// connections.
///
/// Belongs to one connection, and is used on its event loop alone.
final class UnreadAnswers: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Never

  private var end: Scheduled<Void>?

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    end?.cancel()
    end = nil
    if !context.channel.isWritable {
      let channel = context.channel
      end = context.eventLoop.scheduleTask(in: ServerLimits.answerTime) {
        channel.close(promise: nil)
      }
    }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    end?.cancel()
    context.fireChannelInactive()
  }
}
