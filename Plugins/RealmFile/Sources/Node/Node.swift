/// A node, the only building block of a Realm file: a header and elements.
///
/// ```
///   0        4        5                8
///  | AAAA   | flags  | count (24 bit) | payload …, up to a multiple of 8
///
///  flags     7       6        5        4 … 3    2 … 0
///           | inner | hasRefs| context| scheme | width code |
/// ```
///
/// The count is big-endian, everything in the payload little-endian. Padding has no value. The payload
/// is a copy: what becomes of the file does not matter to a node that was read.
struct Node {
  /// What the width of a node counts.
  enum Scheme: UInt8 {
    /// Bits: integers and refs.
    case bits
    /// Bytes: texts and numbers of one size.
    case bytes
    /// Nothing: the count is that of the bytes.
    case blob
  }

  /// The first eight bytes of a node, as far as they say something.
  struct Header {
    static let byteCount = 8

    let scheme: Scheme
    let width: Int
    let count: Int
    let isInner: Bool
    let hasRefs: Bool
    let hasContext: Bool

    /// Reads a header from its bytes; nil when there is no such scheme.
    init?(_ word: UInt64) {
      let flags = UInt8(truncatingIfNeeded: word >> 32)
      guard let scheme = Scheme(rawValue: flags >> 3 & 3) else { return nil }
      self.scheme = scheme
      width = (1 << Int(flags & 7)) >> 1
      count = Int(word.byteSwapped & 0xFF_FFFF)
      isInner = flags & 0x80 != 0
      hasRefs = flags & 0x40 != 0
      hasContext = flags & 0x20 != 0
    }

    /// How many bytes of payload there are.
    var payloadByteCount: Int {
      switch scheme {
      case .bits: (count * width + 7) / 8
      case .bytes: count * width
      case .blob: count
      }
    }

    /// How much of the file the node takes.
    var extent: Int { Self.byteCount + (payloadByteCount + 7) / 8 * 8 }
  }

  /// No node begins before the end of the file header.
  static let lowestPosition = FileHeader.byteCount

  /// Where the node lies in the plain file: its ref.
  let position: Int
  let header: Header
  let payload: [UInt8]

  var count: Int { header.count }
  var width: Int { header.width }
  var scheme: Scheme { header.scheme }
  /// Whether it is an inner node of a tree.
  var isInner: Bool { header.isInner }
  /// Whether its elements may be refs.
  var hasRefs: Bool { header.hasRefs }
  /// A flag whose meaning depends on what the node is used for.
  var hasContext: Bool { header.hasContext }

  /// Something is wrong with this node.
  func damage(_ what: String) -> ReadFault { .damage(what, position: position) }

  /// Throws unless the node has that scheme, and refs or none.
  func check(_ scheme: Scheme, hasRefs: Bool, _ what: String) throws(ReadFault) {
    guard self.scheme == scheme, self.hasRefs == hasRefs else {
      throw damage("a node that is not of the kind of \(what) stands in its place")
    }
  }
}
