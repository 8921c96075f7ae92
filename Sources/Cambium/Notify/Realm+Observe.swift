extension Realm {
  /// Calls `block` whenever this Realm comes to see another version: after its own commits, before
  /// ``commitWrite(withoutNotifying:)`` returns; when it moves by itself; on ``refresh()``, and when a
  /// write begins at a newer version.
  ///
  /// With ``autorefresh`` off it is called with `.refreshRequired` for commits elsewhere. The block is
  /// called in the Realm's context, which must be one that can be woken: the main thread, a queue, an
  /// actor, or a thread whose run loop runs. Stops in others, and for frozen and read-only Realms.
  public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
    instance.observe { notification, instance in block(notification, Realm(instance)) }
  }
}
