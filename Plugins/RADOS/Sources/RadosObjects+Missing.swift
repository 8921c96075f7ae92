#if !RADOS
  /// Not there: the package was built without its trait `RADOS`.
  @available(
    *, unavailable,
    message:
      "Enable the trait: .package(url: …, traits: [\"RADOS\"]), or swift build --traits RADOS"
  )
  public struct RadosObjects {}
#endif
