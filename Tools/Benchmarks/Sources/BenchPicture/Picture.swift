import Foundation

/// A drawing that is written as an SVG file, in the colours of the reader's light or dark page.
package struct Picture {
  /// What a mark means; the page's scheme decides on its colour.
  package enum Ink: String, CaseIterable {
    case text, faint, grid, good, poor, other

    fileprivate var light: String {
      switch self {
      case .text: "#1d2733"
      case .faint: "#5b6470"
      case .grid: "#e3e6ea"
      case .good: "#2f8f6b"
      case .poor: "#d08a2e"
      case .other: "#7a5ea8"
      }
    }

    fileprivate var dark: String {
      switch self {
      case .text: "#e6edf3"
      case .faint: "#9aa5b1"
      case .grid: "#30363d"
      case .good: "#4bb58c"
      case .poor: "#e0a44e"
      case .other: "#a98fd6"
      }
    }
  }

  /// From which side of its place a text is written.
  package enum Anchor: String { case start, middle, end }

  private let width: Double
  private let height: Double
  private var marks: [String] = []

  /// Makes an empty drawing of this size, in pixels.
  package init(width: Double, height: Double) {
    (self.width, self.height) = (width, height)
  }

  /// Writes `content` with its base line at `y`.
  package mutating func write(
    _ content: String, at x: Double, _ y: Double, size: Int = 12, weight: Int = 400,
    anchor: Anchor = .start, ink: Ink = .text
  ) {
    let escaped = content.replacingOccurrences(of: "&", with: "&amp;")
      .replacingOccurrences(of: "<", with: "&lt;")
    marks.append(
      "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(size)\" font-weight=\"\(weight)\""
        + " text-anchor=\"\(anchor)\" fill=\"var(--\(ink))\">\(escaped)</text>")
  }

  /// Fills a bar with rounded corners; a width below one pixel becomes one pixel.
  package mutating func fill(
    x: Double, y: Double, width: Double, height: Double, ink: Ink
  ) {
    marks.append(
      "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(max(1, width)))\""
        + " height=\"\(number(height))\" rx=\"2\" fill=\"var(--\(ink))\"/>")
  }

  /// Draws an upright line.
  package mutating func drawLine(
    at x: Double, from top: Double, to bottom: Double, thickness: Int = 1, ink: Ink
  ) {
    marks.append(
      "<line x1=\"\(number(x))\" y1=\"\(number(top))\" x2=\"\(number(x))\" y2=\"\(number(bottom))\""
        + " stroke=\"var(--\(ink))\" stroke-width=\"\(thickness)\"/>")
  }

  /// The picture as an SVG file.
  package var svg: String {
    func scheme(_ color: (Ink) -> String, page: String) -> String {
      ":root { --page: \(page); "
        + Ink.allCases.map { "--\($0): \(color($0));" }.joined(separator: " ") + " }"
    }
    let head = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" \
      width="\(number(width))" height="\(number(height))" font-family="system-ui, sans-serif">
      <style>
      \(scheme(\.light, page: "#ffffff"))
      @media (prefers-color-scheme: dark) { \(scheme(\.dark, page: "#0d1117")) }
      </style>
      <rect width="100%" height="100%" fill="var(--page)"/>
      """
    return ([head] + marks + ["</svg>", ""]).joined(separator: "\n")
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
