import Foundation
import FuzzTargets

/// Which target is fed: the environment says, because the arguments belong to the fuzzer.
enum Selection {
  static let target: FuzzTarget = {
    let environment = ProcessInfo.processInfo.environment
    if let folder = environment["CAMBIUM_FUZZ_SEEDS"] { writeSeeds(folder) }
    let name = environment["CAMBIUM_FUZZ"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
      let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
      fatalError("Set CAMBIUM_FUZZ to one of: \(names).")
    }
    return target
  }()

  /// Writes the first inputs of the targets that read pages, and ends the process.
  private static func writeSeeds(_ folder: String) {
    for (index, seed) in SeedCorpus.pages().enumerated() {
      let url = URL(fileURLWithPath: folder)
        .appendingPathComponent("\(seed.target.rawValue)/seed-\(index)")
      do { try Data(seed.bytes).write(to: url) } catch { fatalError("\(error)") }
    }
    // The fuzzer takes an ordinary end for a crash.
    _exit(0)
  }
}
