import CambiumCore

/// Keys for tests.
enum Keys {
  static func bytes(_ number: UInt8) -> [UInt8] { (0..<64).map { $0 &* 3 &+ number } }

  static func key(_ number: UInt8) -> CodecKey {
    CodecKey(copying: bytes(number).span)
  }
}
