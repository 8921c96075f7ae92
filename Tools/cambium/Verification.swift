import Cambium
import CambiumCore
import Foundation

/// What `verify` found.
struct Verification: Encodable {
  var path: String
  var version: UInt64
  var pages: Int
  var bytes: Int
  var isSound: Bool
  var findings: [String]
  /// What `--repair` found and mended.
  var repaired: [String]?

  init(_ location: StoreLocation, key: CodecKey?, progress: ProgressLine) throws {
    path = location.path
    do {
      let report = try OfflineStore.withDatabase(location, key: key) { database in
        let all = (try? database.statistics())?.occupiedByteCount
        var report = try database.verify { progress.show("verifying", $0, of: all, "bytes") }
        if report.findings.isEmpty {
          // Indexes and backlinks can only be followed through sound trees.
          progress.show("verifying", "indexes and backlinks")
          let snapshot = try database.snapshot()
          _ = try StoredFeatures(of: snapshot, path: location.path)
          var verifier = ObjectVerifier(snapshot: snapshot)
          report.findings += try verifier.run()
        }
        return report
      }
      progress.finish()
      version = report.version
      pages = report.trees.reduce(0) { $0 + $1.pageCount }
      bytes = report.reachableByteCount
      findings = report.findings
    } catch let error as StoreError {
      progress.finish()
      switch error {
      // Without the advice to verify.
      case .damaged(let damage): findings = ["\(damage)"]
      case .truncated: findings = ["\(error)"]
      default: throw error
      }
      version = 0
      pages = 0
      bytes = 0
    }
    isSound = findings.isEmpty
  }

  func printForPeople() {
    if let repaired, !repaired.isEmpty {
      Output.line("The free map of \(path) was rebuilt:")
      for finding in repaired { Output.line("  \(finding)") }
    }
    if isSound {
      Output.line(
        "\(path) is sound: version \(version), \(pages) pages, \(Output.bytes(bytes)) reachable",
        .good)
      return
    }
    Output.line("\(path) is damaged:", .bad)
    for finding in findings { Output.line("  \(finding)") }
  }
}
