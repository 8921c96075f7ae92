/// How many bytes the year of flights takes: a bar for each way to keep it.
struct SizesPicture {
  private let sizes: [Recorded.Size]

  private static let left = 16.0
  private static let labelEnd = 290.0
  private static let plotStart = 302.0
  private static let plotLength = 390.0
  private static let width = 896.0
  private static let top = 78.0
  private static let rowHeight = 34.0

  init(_ sizes: [Recorded.Size]) { self.sizes = sizes.sorted { $0.bytes < $1.bytes } }

  var picture: Picture {
    let bottom = Self.top + Double(sizes.count) * Self.rowHeight
    let title = "What a year of flights takes in a file"
    let flights = sizes.first?.flights ?? 0
    var picture = Picture(
      width: Self.width, height: bottom + 62, title: title,
      description: sizes.map { "\($0.name): \(Words.megabytes($0.bytes))" }.joined(separator: "; "))
    picture.write(title, at: Self.left, 30, size: 18, isBold: true)
    picture.write(
      "\(Words.count(flights)) flights with links to their airlines, airports and planes, and the weather; compacted",
      at: Self.left, 52, ink: .faint)
    // Whole tens of megabytes.
    let largest = (Double(sizes.map(\.bytes).max() ?? 1) / 1e7).rounded(.up) * 1e7
    func place(_ bytes: Double) -> Double { Self.plotStart + bytes / largest * Self.plotLength }
    for megabytes in stride(from: 0, through: largest / 1e6, by: 10) {
      let x = place(megabytes * 1e6)
      picture.draw(
        [(x, Self.top - 4), (x, bottom + 2)], ink: megabytes == 0 ? .faint : .grid)
      picture.write(
        "\(Int(megabytes)) MB", at: x, bottom + 18, size: 11, anchor: .middle, ink: .faint)
    }
    for (index, size) in sizes.enumerated() {
      let y = Self.top + Double(index) * Self.rowHeight
      let isOwn = size.name.hasPrefix("Cambium")
      picture.write(size.name, at: Self.labelEnd, y + 19, isBold: isOwn, anchor: .end)
      let end = place(Double(size.bytes))
      picture.fill(
        x: Self.plotStart, y: y + 4, width: end - Self.plotStart, height: 22,
        ink: isOwn ? .subject : .sqlite)
      let each = Int((Double(size.bytes) / Double(max(1, size.flights))).rounded())
      picture.write(Words.megabytes(size.bytes), at: end + 8, y + 19, isBold: true)
      picture.write("\(each) bytes a flight", at: end + 72, y + 19, ink: .faint)
    }
    picture.write(
      "Measured by make flights-space, drawn from results/sizes.json by make pictures",
      at: Self.left, bottom + 46, size: 11,
      ink: .faint)
    return picture
  }
}
