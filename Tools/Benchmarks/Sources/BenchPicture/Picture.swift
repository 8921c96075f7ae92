import Foundation

/// A drawing that is written as SVG, for light and for dark pages.
package struct Picture {
  /// From which side of its place a text is written.
  package enum Anchor: String { case start, middle, end }

  /// What stands for a value.
  package enum Shape { case circle, square, triangle, diamond }

  private enum Mark {
    case text(String, x: Double, y: Double, size: Int, isBold: Bool, Anchor, Ink)
    case rectangle(x: Double, y: Double, width: Double, height: Double, Ink)
    case line([(x: Double, y: Double)], thickness: Double, dashes: String?, Ink)
    case shape(Shape, x: Double, y: Double, radius: Double, Ink)
  }

  private let width: Double
  private let height: Double
  private let title: String
  private let description: String
  private var marks: [Mark] = []

  /// Makes an empty drawing of this size, in pixels; what it shows is said for those who cannot see it.
  package init(width: Double, height: Double, title: String, description: String) {
    (self.width, self.height) = (width, height)
    (self.title, self.description) = (title, description)
  }

  // MARK: Drawing

  /// Writes `content` with its base line at `y`.
  package mutating func write(
    _ content: String, at x: Double, _ y: Double, size: Int = 12, isBold: Bool = false,
    anchor: Anchor = .start, ink: Ink = .text
  ) {
    marks.append(.text(content, x: x, y: y, size: size, isBold: isBold, anchor, ink))
  }

  /// Writes `content` in lines of at most so many characters, the last of them with its base line at `y`.
  package mutating func write(
    _ content: String, wrappedTo count: Int, at x: Double, lastAt y: Double, size: Int,
    isBold: Bool = false
  ) {
    let lines = content.split(separator: " ").reduce(into: [String]()) { lines, word in
      if let line = lines.last, line.count + 1 + word.count <= count {
        lines[lines.count - 1] = "\(line) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    for (index, line) in lines.enumerated() {
      let above = Double(lines.count - 1 - index) * Double(size) * 1.3
      write(line, at: x, y - above, size: size, isBold: isBold)
    }
  }

  /// Fills a bar; a width below one pixel becomes one pixel.
  package mutating func fill(x: Double, y: Double, width: Double, height: Double, ink: Ink) {
    marks.append(.rectangle(x: x, y: y, width: max(1, width), height: height, ink))
  }

  /// Draws a line from point to point.
  package mutating func draw(
    _ points: [(x: Double, y: Double)], thickness: Double = 1, dashes: String? = nil, ink: Ink
  ) {
    marks.append(.line(points, thickness: thickness, dashes: dashes, ink))
  }

  /// Draws a mark around a place.
  package mutating func mark(
    _ shape: Shape, at x: Double, _ y: Double, radius: Double = 5.5, ink: Ink
  ) {
    marks.append(.shape(shape, x: x, y: y, radius: radius, ink))
  }

  // MARK: Writing

  /// The picture as an SVG file.
  package func svg(_ scheme: Scheme) -> String {
    let head = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" \
      width="\(number(width))" height="\(number(height))" role="img" \
      font-family="system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif">
      <title>\(escaped(title))</title>
      <desc>\(escaped(description))</desc>
      <rect width="100%" height="100%" fill="\(scheme.color(.page))"/>
      """
    return ([head] + marks.map { element($0, scheme) } + ["</svg>", ""]).joined(separator: "\n")
  }

  private func element(_ mark: Mark, _ scheme: Scheme) -> String {
    switch mark {
    case .text(let content, let x, let y, let size, let isBold, let anchor, let ink):
      "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(size)\""
        + (isBold ? " font-weight=\"600\"" : "")
        + (anchor == .start ? "" : " text-anchor=\"\(anchor)\"")
        // Lines do not go through letters.
        + " stroke=\"\(scheme.color(.page))\" stroke-width=\"3\" paint-order=\"stroke\""
        + " fill=\"\(scheme.color(ink))\">\(escaped(content))</text>"
    case .rectangle(let x, let y, let width, let height, let ink):
      "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\""
        + " height=\"\(number(height))\" rx=\"2\" fill=\"\(scheme.color(ink))\"/>"
    case .line(let points, let thickness, let dashes, let ink):
      "<polyline points=\"\(places(points))\" fill=\"none\" stroke=\"\(scheme.color(ink))\""
        + " stroke-width=\"\(number(thickness))\" stroke-linejoin=\"round\""
        + (dashes.map { " stroke-dasharray=\"\($0)\"" } ?? "") + "/>"
    case .shape(let shape, let x, let y, let radius, let ink):
      // The rim tells marks apart that lie on one another.
      outline(shape, x, y, radius)
        + " fill=\"\(scheme.color(ink))\" stroke=\"\(scheme.color(.page))\" stroke-width=\"1\"/>"
    }
  }

  /// An element that is not closed yet; all shapes look as large as the circle.
  private func outline(_ shape: Shape, _ x: Double, _ y: Double, _ radius: Double) -> String {
    func polygon(_ points: [(x: Double, y: Double)]) -> String {
      "<polygon points=\"\(places(points.map { (x + $0.x * radius, y + $0.y * radius) }))\""
    }
    return switch shape {
    case .circle: "<circle cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"\(number(radius))\""
    case .square: polygon([(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)])
    case .triangle: polygon([(0, -1.15), (1.1, 0.85), (-1.1, 0.85)])
    case .diamond: polygon([(0, -1.25), (1.1, 0), (0, 1.25), (-1.1, 0)])
    }
  }

  private func places(_ points: [(x: Double, y: Double)]) -> String {
    points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
  }

  private func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;")
  }

  /// One digit behind the point is all that a pixel needs.
  private func number(_ value: Double) -> String {
    let text = String(format: "%.1f", value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
