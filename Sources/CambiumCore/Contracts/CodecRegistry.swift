import Synchronization

/// The codecs that a program has asked for, by name: for configurations that say `zstd:3+aes-256-gcm`
/// as text, and for `Realm.Configuration.encryptionKey`.
///
/// Empty at first. A plug-in joins when the program calls its `register()`, so that linking one
/// changes nothing by itself. May be used from any thread.
public enum CodecRegistry {
  /// How a codec is made from text.
  public struct Entry: Sendable {
    /// The name, as stores record it.
    public var name: String
    /// Whether it needs a key.
    public var needsKey: Bool
    /// Makes the codec from what follows the name behind a colon, if anything does, and the key.
    public var make:
      @Sendable (_ parameter: String?, _ key: CodecKey?) throws(StoreError) -> any PageCodec

    /// Describes a codec.
    public init(
      name: String, needsKey: Bool = false,
      make:
        @escaping @Sendable (_ parameter: String?, _ key: CodecKey?) throws(StoreError)
        -> any PageCodec
    ) {
      self.name = name
      self.needsKey = needsKey
      self.make = make
    }
  }

  private static let entries = Mutex<[String: Entry]>([:])

  /// Adds a codec; one of the same name is replaced.
  public static func register(_ entry: Entry) {
    entries.withLock { $0[entry.name] = entry }
  }

  /// The names of the codecs that have joined, sorted.
  public static var names: [String] { entries.withLock { $0.keys.sorted() } }

  /// The name of a chain as stores record it: without what follows a colon.
  public static func name(ofChain chain: String) -> String {
    chain.split(separator: "+").map { String($0.prefix { $0 != ":" }) }.joined(separator: "+")
  }

  /// The codec that `chain` describes: names joined by `+`, each with its parameter behind a colon if
  /// it takes one, such as `zstd:3+aes-256-gcm`; nil for an empty text and for `none`.
  ///
  /// Throws ``StoreError/codecUnavailable(codec:advice:)`` for a name that has not joined, and
  /// ``StoreError/codecFailure(codec:reason:)`` for a wrong parameter or a missing key.
  public static func codec(
    _ chain: String, key: CodecKey? = nil
  ) throws(StoreError) -> (any PageCodec)? {
    if chain.isEmpty || chain == "none" { return nil }
    var codecs: [any PageCodec] = []
    for part in chain.split(separator: "+", omittingEmptySubsequences: false) {
      let name = String(part.prefix { $0 != ":" })
      let parameter = part.contains(":") ? String(part.drop { $0 != ":" }.dropFirst()) : nil
      guard let entry = entries.withLock({ $0[name] }) else {
        throw .codecUnavailable(codec: name, advice: KnownCodecs.advice(for: name))
      }
      if entry.needsKey, key == nil {
        throw .codecFailure(codec: name, reason: "it needs a key, and none was given")
      }
      let codec = try entry.make(parameter, key)
      if let before = codecs.last, before.needsPlace || before.recordOverhead > 0 {
        throw .codecFailure(
          codec: before.name,
          reason: "only the last codec of a chain encrypts: put it behind \(name)")
      }
      codecs.append(codec)
    }
    return codecs.count == 1 ? codecs[0] : CodecChain(codecs)
  }
}

/// Where the codecs that belong to this package are found.
enum KnownCodecs {
  /// How to get the codec of that name.
  static func advice(for name: String) -> String {
    switch name {
    case "zstd": get("CambiumZstd", trait: "Zstd", call: "ZstdCodec.register()")
    case "aes-256-gcm": get("CambiumCrypto", trait: "Crypto", call: "AESCodec.register()")
    default: "Call the register() of the plug-in that has it before the store is opened"
    }
  }

  /// How to get all parts of a chain that this package has; empty when it has none of them.
  static func advice(forChain chain: String) -> String {
    let known = ["zstd", "aes-256-gcm"].filter { chain.split(separator: "+").contains($0[...]) }
    return known.map { "\($0): \(advice(for: $0))." }.joined(separator: " ")
  }

  private static func get(_ product: String, trait: String, call: String) -> String {
    "Add the product \(product) (package trait \(trait)) and call \(call) before the store is opened"
  }
}
