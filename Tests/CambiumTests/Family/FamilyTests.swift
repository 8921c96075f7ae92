import Foundation
import TestSupport
import Testing

@testable import Cambium

/// The whole object model against a plain one: twenty classes with every type and collection, links
/// among them, a class whose properties change in migrations, and queries that are answered twice.
@Suite struct FamilyTests {
  @Test(arguments: Exhaustive.seeds(40, few: 3))
  func `objects in memory are what a plain model holds`(seed: UInt64) throws {
    var run = FamilyRun(
      seed: seed, configuration: SampledStore.memory.configuration(UUID().uuidString, []))
    _ = try run.run(steps: 20)
  }

  @Test(arguments: SampledStore.all.enumerated().map { (UInt64($0) + 100, $1) })
  func `each kind of store and codec holds it, through migrations`(
    seed: UInt64, store: SampledStore
  ) throws {
    try run(Exhaustive.seeds(10, few: 1)[0] * 1000 + seed, store, steps: 15)
  }

  @Test(arguments: Exhaustive.seeds(20, few: 2))
  func `transactions that are written in parts hold it`(seed: UInt64) throws {
    try run(
      seed + 500, SampledStore.one(seed: seed, persistent: true), steps: 15, budget: 12 << 10)
  }

  private func run(
    _ seed: UInt64, _ store: SampledStore, steps: Int, budget: Int? = nil
  ) throws {
    let folder = try TemporaryFolder()
    var configuration = store.configuration(folder.file("family"), [])
    configuration.durability = .relaxed
    if let budget { configuration.databaseOptions.transactionBudgetByteCount = budget }
    var run = FamilyRun(seed: seed, configuration: configuration)
    let last = try autoreleasepool { try run.run(steps: steps) }
    try store.expectSound(last)
  }
}
