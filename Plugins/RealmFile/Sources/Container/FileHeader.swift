/// The first 24 bytes of the plain file, and the footer that some files have: they name the root.
///
/// ```
///   0             8             16      20  21  22  23
///  | root ref 0  | root ref 1  | T-DB  | f0 | f1 | – | flags |     bit 0 of flags: the choice
/// ```
///
/// A file in streaming form has all ones as root ref 0, and ends with a footer:
///
/// ```
///  −16           −8
///  | root ref    | cookie      |
/// ```
struct FileHeader {
  static let byteCount = 24
  static let footerByteCount = 16
  /// Where the magic bytes lie.
  static let magicPosition = 16
  static let magic: [UInt8] = [0x54, 0x2D, 0x44, 0x42]
  /// The formats between the oldest and the newest one that can be read.
  static let formats = 10...24
  /// Those between that nobody ever wrote.
  private static let unusedFormats = 12...19

  private static let cookie: UInt64 = 0x3034_1252_37E5_26C8

  /// The chosen format; may be 0 when there is no root.
  var format: Int
  /// Where the root lies; 0 in an empty file.
  var root: Int
  var form: RealmFile.Form

  /// Whether the first bytes are those of a Realm file that is not encrypted.
  static func hasMagic(_ head: [UInt8]) -> Bool {
    head.count >= magicPosition + magic.count
      && head[magicPosition..<magicPosition + magic.count] == magic[...]
  }

  /// Reads the header of a file that has at least one byte.
  init(of bytes: PlainBytes, path: String) throws(ReadFault) {
    guard bytes.byteCount >= Self.byteCount else { throw .file(.notARealmFile(path: path)) }
    let head = try bytes.read(at: 0, count: Self.byteCount)
    guard Self.hasMagic(head) else { throw .file(.notARealmFile(path: path)) }
    guard bytes.byteCount % 8 == 0 else {
      throw .file(.truncated(path: path, what: "its length is no multiple of 8"))
    }
    let choice = Int(head[23] & 1)
    format = Int(head[20 + choice])
    var root = head.span.littleEndian(UInt64.self, at: 8 * choice)
    form = choice == 0 && root == .max ? .streamed : .normal
    if form == .streamed { root = try Self.footerRoot(of: bytes, path: path) }
    if root != 0 || format != 0 {
      guard Self.formats.contains(format), !Self.unusedFormats.contains(format) else {
        throw .file(.unsupportedFormat(format, path: path))
      }
    }
    guard root % 8 == 0 else {
      throw .damage("the root's position \(root) is no multiple of 8", position: 8 * choice)
    }
    guard root < UInt64(bytes.byteCount) else {
      let what = "its root lies at byte \(root), and it has \(bytes.byteCount)"
      throw .file(.truncated(path: path, what: what))
    }
    self.root = Int(root)
  }

  private static func footerRoot(
    of bytes: PlainBytes, path: String
  ) throws(ReadFault) -> UInt64 {
    let position = bytes.byteCount - footerByteCount
    guard position >= byteCount, try bytes.word(at: position + 8) == cookie else {
      throw .file(.truncated(path: path, what: "the footer of its streaming form is missing"))
    }
    return try bytes.word(at: position)
  }
}
