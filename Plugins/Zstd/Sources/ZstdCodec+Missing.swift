#if !Zstd
  /// Not there: the package was built without its trait `Zstd`.
  @available(
    *, unavailable,
    message: "Enable the trait: .package(url: …, traits: [\"Zstd\"]), or swift build --traits Zstd"
  )
  public struct ZstdCodec {}
#endif
