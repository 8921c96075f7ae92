#if !RocksDB
  /// Not there: the package was built without its trait `RocksDB`.
  @available(
    *, unavailable,
    message:
      "Enable the trait: .package(url: …, traits: [\"RocksDB\"]), or swift build --traits RocksDB"
  )
  public struct RocksDBStore {}
#endif
