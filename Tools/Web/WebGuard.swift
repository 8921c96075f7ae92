import Synchronization

/// Says who may ask: whoever has the token, from a page that this server has sent.
///
/// The token comes in a header, which no other site's page can send. The host is compared because a name
/// that leads to this machine would let a foreign page pass for one of ours (DNS rebinding).
struct WebGuard: ~Copyable {
  /// The secret of this run, 128 bits in hexadecimal digits.
  let token: String
  /// The port, once it is known; 0 before.
  let port = Atomic(0)

  init() {
    var generator = SystemRandomNumberGenerator()
    token = (0..<4).map { _ in
      let digits = String(UInt32.random(in: .min ... .max, using: &generator), radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }

  private var hosts: [String] {
    let port = port.load(ordering: .acquiring)
    return ["127.0.0.1", "localhost", "[::1]"].map { "\($0):\(port)" }
  }

  /// Throws unless the request was meant for this server.
  func checkHost(_ request: WebRequest) throws(WebRefusal) {
    guard request.target.utf8.count <= WebRequest.targetLimit else {
      throw WebRefusal(414, "The address is too long.")
    }
    guard let host = request.headers["host"], hosts.contains(host) else {
      throw WebRefusal(403, "Open the printed address: this server has no other name.")
    }
  }

  /// Throws unless a page of this server asks, with the token.
  func checkSender(_ request: WebRequest) throws(WebRefusal) {
    let site = request.headers["sec-fetch-site"] ?? "same-origin"
    let origin = request.headers["origin"]
    guard site == "same-origin", origin.map({ hosts.map { "http://\($0)" }.contains($0) }) ?? true
    else { throw WebRefusal(403, "Other sites may not ask.") }
    let expected = Array("Bearer \(token)".utf8)
    let given = Array((request.headers["authorization"] ?? "").utf8)
    // Takes the same time wherever they differ.
    var difference = UInt8(given.count == expected.count ? 0 : 1)
    for (index, byte) in expected.enumerated() {
      difference |= byte ^ (index < given.count ? given[index] : 0)
    }
    guard difference == 0 else {
      throw WebRefusal(401, "The token is wrong or missing: open the printed address.")
    }
  }
}
