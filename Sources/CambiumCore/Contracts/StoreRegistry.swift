import Synchronization

/// The kinds of stores that a program can name as text, such as `file:/data/people`.
///
/// Empty at first. A plug-in joins by its `register()`, which the object layer calls for those that it
/// was built with. May be used from any thread.
public enum StoreRegistry {
  private struct Entry {
    var choice: StoreChoice
    var recognizes: @Sendable (_ path: String) -> Bool
  }

  private static let entries = Mutex<[String: Entry]>([:])
  /// How to get kinds that have not joined, by their names.
  private static let advice = Mutex<[String: String]>([:])

  /// Adds a kind of store; one of the same name is replaced.
  ///
  /// `recognizes` says whether there is such a store at a path, from a short look and without opening
  /// it.
  public static func register(
    _ choice: StoreChoice,
    recognizes: @escaping @Sendable (_ path: String) -> Bool = { _ in false }
  ) {
    entries.withLock { $0[choice.kind] = Entry(choice: choice, recognizes: recognizes) }
  }

  /// Says how to get a kind that the program was built without: a sentence without its full stop.
  public static func register(missing kind: String, advice sentence: String) {
    advice.withLock { $0[kind] = sentence }
  }

  /// The names of the kinds that have joined, sorted.
  public static var kinds: [String] { entries.withLock { $0.keys.sorted() } }

  /// What `text` names: `KIND:PATH`, such as `file:/data/people` or `memory:scratch`, or a path alone.
  ///
  /// A path alone is of the kind that recognizes what is there, or else a file. Throws
  /// ``StoreError/storeUnavailable(kind:advice:)`` for a kind that has not joined.
  public static func location(_ text: String) throws(StoreError) -> StoreLocation {
    let known = entries.withLock { $0 }
    let scheme = String(text.prefix { $0 != ":" })
    if scheme.count < text.count {
      let path = path(String(text.dropFirst(scheme.count + 1)))
      if let entry = known[scheme] { return StoreLocation(choice: entry.choice, path: path) }
      if let advice = advice.withLock({ $0[scheme] }) {
        throw .storeUnavailable(kind: scheme, advice: advice)
      }
    }
    let recognizing = known.keys.sorted().lazy.compactMap { known[$0] }.first { entry in
      entry.recognizes(text)
    }
    guard let entry = recognizing ?? known["file"] else {
      throw .storeUnavailable(
        kind: "file", advice: "Register the kinds of stores that the program may open")
    }
    return StoreLocation(choice: entry.choice, path: text)
  }

  /// Without the slashes and the host of a URL.
  private static func path(_ rest: String) -> String {
    guard rest.hasPrefix("//") else { return rest }
    return String(rest.dropFirst(2).drop { $0 != "/" })
  }
}

/// A kind of store and a place, as ``StoreRegistry/location(_:)`` reads them from text.
public struct StoreLocation: Sendable {
  /// The kind.
  public var choice: StoreChoice
  /// Where the store is, or the name of one in memory.
  public var path: String

  /// A store of that kind at `path`.
  public init(choice: StoreChoice, path: String) {
    self.choice = choice
    self.path = path
  }

  /// Opens the store that is there, through the codec that it names itself, made with `key`.
  ///
  /// None is made, except in memory: throws ``StoreError/notFound(path:)`` then. Otherwise throws what opening
  /// throws, ``StoreError/codecUnavailable(codec:advice:)`` when that codec has
  /// not joined ``CodecRegistry``, and ``StoreError/codecFailure(codec:reason:)`` when it needs a key.
  public func openExisting(
    isReadOnly: Bool, key: CodecKey? = nil, upgradesFormat: Bool = true
  ) throws(StoreError) -> any PageStore {
    // Who may write would make one that is missing; one in memory ends when it is closed.
    var request = StoreRequest(path: path, isReadOnly: isReadOnly || !choice.isVolatile)
    do throws(StoreError) {
      let found = try choice.open(request)
      if request.isReadOnly == isReadOnly { return found }
      try found.close()
    } catch .codecMismatch(_, let found, _) {
      request.codec = try CodecRegistry.codec(found, key: key)
    }
    request.isReadOnly = isReadOnly
    request.upgradesFormat = upgradesFormat
    return try choice.open(request)
  }
}
