import Foundation

/// How Cambium's median stands against one aim.
struct Verdict {
  /// How many times as good as the reference Cambium is; above 1 it is better.
  var factor: Double
  /// The factor that reaches the aim.
  var neededFactor: Double
  /// What was measured, in the aim's own words.
  var text: String
  /// What was asked for, in the same words.
  var aimText: String
  /// What Cambium was set against.
  var reference: String

  var isReached: Bool { factor >= neededFactor }
}

extension Results.Line {
  /// The verdict on each aim for which there are figures.
  var verdicts: [Verdict] { measure.aims.compactMap(verdict) }

  private func verdict(_ aim: Aim) -> Verdict? {
    guard let own = median(of: Results.subject), own > 0 else { return nil }
    func factor(_ other: Double) -> Double { measure.isRate ? own / other : other / own }
    func times(_ name: String, _ other: Double) -> Verdict {
      Verdict(
        factor: factor(other), neededFactor: aim.bound,
        text: "\(Self.format(factor(other))) × \(name)",
        aimText: "≥ \(Self.format(aim.bound)) ×", reference: name)
    }
    func share(_ name: String, _ other: Double, _ suffix: String) -> Verdict {
      Verdict(
        factor: other / own, neededFactor: 1 / aim.bound,
        text: "\(Self.format(own / other)) \(suffix)",
        aimText: "≤ \(Self.format(aim.bound)) \(suffix)", reference: name)
    }
    switch aim.reference {
    case .bestPeer:
      let others = Results.peers.compactMap { name in median(of: name).map { (name, $0) } }
      let best = measure.isRate ? others.max { $0.1 < $1.1 } : others.min { $0.1 < $1.1 }
      return best.map { times($0.0, $0.1) }
    case .engine(let name): return median(of: name).map { times(name, $0) }
    case .floor(isBeatable: true): return median(of: FloorEngine.name).map { times("the loop", $0) }
    case .floor(isBeatable: false):
      return median(of: FloorEngine.name).map { share("the floor", $0, "× the floor") }
    case .share(let name): return median(of: name).map { share(name, $0, "of \(name)") }
    case .limit:
      let unit = measure.unit
      return Verdict(
        factor: factor(aim.bound), neededFactor: 1, text: "\(Self.format(own)) \(unit)",
        aimText: "\(measure.isRate ? "≥" : "≤") \(Self.format(aim.bound)) \(unit)",
        reference: "the limit")
    }
  }

  /// Two or three digits that mean something.
  static func format(_ value: Double) -> String {
    switch abs(value) {
    case 0: "0"
    case ..<0.0995: trimmed(value, value.magnitude < 0.00995 ? 4 : 3)
    case ..<10: trimmed(value, 2)
    case ..<100: trimmed(value, 1)
    default: trimmed(value, 0)
    }
  }

  private static func trimmed(_ value: Double, _ digits: Int) -> String {
    var text = String(format: "%.\(digits)f", value)
    if text.contains(".") {
      while text.hasSuffix("0") { text.removeLast() }
      if text.hasSuffix(".") { text.removeLast() }
    }
    return text
  }
}
