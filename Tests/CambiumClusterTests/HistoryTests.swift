import CambiumCore
import Foundation
import SimulatedCluster
import Testing

@testable import CambiumCluster

/// Histories by seed: `CLUSTER_HISTORIES` says how many, `CAMBIUM_TEST_SEED` where they begin.
@Suite struct ClusterHistoryTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let first = environment["CAMBIUM_TEST_SEED"].flatMap { UInt64($0) } ?? 1
  private static let count = environment["CLUSTER_HISTORIES"].flatMap { UInt64($0) } ?? 400

  @Test func `a machine alone reads what it has written`() {
    for seed in 1...20 as ClosedRange<UInt64> {
      #expect(History(seed: seed, machineCount: 1, stepCount: 40, isRough: false).run() == [])
    }
  }

  @Test func `machines take turns over a cluster that answers`() {
    for seed in 1...20 as ClosedRange<UInt64> {
      #expect(History(seed: seed, isRough: false).run() == [])
    }
  }

  @Test func `nothing that was acknowledged is lost, whatever the cluster and its machines do`() {
    var failed = 0
    for seed in Self.first..<Self.first + Self.count where failed < 3 {
      let findings = History(seed: seed).run()
      #expect(findings == [], "seed \(seed)")
      if !findings.isEmpty { failed += 1 }
    }
    print("\(Self.count) histories from seed \(Self.first)")
  }
}
