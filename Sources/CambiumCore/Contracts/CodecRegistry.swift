import Synchronization

/// The codecs that a program can name as text, such as `zstd:3+aes-256-gcm`.
///
/// Empty at first. A plug-in joins by its `register()`, which the object layer calls for those that it
/// was built with. May be used from any thread.
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
  /// How to get codecs that have not joined, by their names.
  private static let advice = Mutex<[String: String]>([:])

  /// Adds a codec; one of the same name is replaced.
  public static func register(_ entry: Entry) {
    entries.withLock { $0[entry.name] = entry }
  }

  /// Says how to get a codec that the program was built without: a sentence without its full stop, for
  /// errors about stores that need the codec.
  public static func register(missing name: String, advice sentence: String) {
    advice.withLock { $0[name] = sentence }
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
        throw .codecUnavailable(
          codec: name,
          advice: advice(for: name)
            ?? "Call the register() of the plug-in that has it before the store is opened")
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

  /// How to get those parts of a chain that the program was built without; empty for all others.
  static func advice(forChain chain: String) -> String {
    chain.split(separator: "+").map(String.init)
      .compactMap { name in advice(for: name).map { "\(name): \($0)." } }
      .joined(separator: " ")
  }

  private static func advice(for name: String) -> String? {
    if entries.withLock({ $0[name] != nil }) { return nil }
    return advice.withLock { $0[name] }
  }
}
