#if !canImport(ObjectiveC)
  /// Runs `body`.
  ///
  /// Programs for Apple's platforms wrap background work in a pool, so that a Realm closes when they
  /// leave it. Where there are no pools, objects are released at once and only the call remains.
  public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    try body()
  }
#endif
