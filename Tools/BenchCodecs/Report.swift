#if Zstd && Crypto
  import Foundation

  /// The results beside those of the first variant.
  struct Report {
    var names: [String]
    var results: [Result]

    func print() {
      guard let plain = results.first else { return }
      for result in results { precondition(result.sum == plain.sum, "A scan read something else.") }
      let header = [
        "codec", "bytes", "", "cold scan", "", "scan", "", "point read", "", "insert", "",
      ]
      var lines = [header]
      for (name, result) in zip(names, results) {
        lines.append([
          name, "\(result.byteCount)", ratio(Double(result.byteCount), Double(plain.byteCount)),
          milliseconds(result.coldScan), ratio(result.coldScan, plain.coldScan),
          milliseconds(result.scan), ratio(result.scan, plain.scan),
          String(format: "%.0f ns", result.points / Double(Measurement.pointCount) * 1e9),
          ratio(result.points, plain.points),
          milliseconds(result.insert), ratio(result.insert, plain.insert),
        ])
      }
      let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
      for line in lines {
        let cells = zip(line, widths).enumerated().map { column, cell in
          let padding = String(repeating: " ", count: cell.1 - cell.0.count)
          return column == 0 ? cell.0 + padding : padding + cell.0
        }
        Swift.print(cells.joined(separator: "  "))
      }
    }

    private func ratio(_ value: Double, _ base: Double) -> String {
      String(format: "×%.2f", value / base)
    }

    private func milliseconds(_ seconds: Double) -> String {
      String(format: "%.1f ms", seconds * 1000)
    }
  }
#endif
