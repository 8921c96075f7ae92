#if !(Zstd && Crypto)
  /// Says how to build what is to be measured.
  @main
  enum BenchCodecs {
    static func main() {
      print("Build with '--traits Zstd,Crypto', as 'make bench-codecs' does.")
    }
  }
#endif
