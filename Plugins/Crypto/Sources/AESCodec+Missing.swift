#if !Crypto
  /// Not there: the package was built without its trait `Crypto`.
  @available(
    *, unavailable,
    message:
      "Enable the trait: .package(url: …, traits: [\"Crypto\"]), or swift build --traits Crypto"
  )
  public struct AESCodec {}
#endif
