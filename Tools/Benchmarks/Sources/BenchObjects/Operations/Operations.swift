import ArgumentParser
import Cambium
import Foundation

/// Measures what the object layer costs per operation.
struct Operations: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "operations",
    abstract: "Measures what the object layer costs per operation.",
    discussion: """
      Every operation runs in each round, in one process over a Realm in memory, some also over one in \
      a file; the medians of all rounds are shown, in nanoseconds per operation.
      """)

  @Option(help: "How many objects to work on.")
  var objects = 20_000

  @Option(help: "How many rounds to run.")
  var rounds = 5

  @Option(help: "How often a round repeats what is measured on one object.")
  var repetitions = 1_000_000

  @Option(parsing: .upToNextOption, help: "Run only operations whose names contain one of these.")
  var only: [String] = []

  @Flag(help: "Print an array of {operation, nanoseconds} and nothing else.")
  var json = false

  func validate() throws {
    guard objects >= 100, rounds > 0, repetitions > 0 else {
      throw ValidationError("--objects must be at least 100, --rounds and --repetitions 1")
    }
  }

  func run() throws {
    var times: [String: [Double]] = [:]
    var order: [String] = []
    var readWorlds: [World.Store: World] = [:]
    for _ in 0..<rounds {
      for operation in Operation.all {
        for store in operation.stores {
          let name = store == .memory ? operation.name : "\(operation.name) (\(store))"
          guard isWanted(name) else { continue }
          var world = operation.isReading ? readWorlds[store] : nil
          if world == nil {
            world = try World(
              objects: objects, isFilled: operation.needsObjects, in: store)
            if operation.isReading { readWorlds[store] = world }
          }
          guard let world else { continue }
          let (count, duration) = try operation.measure(world, repetitions)
          if times[name] == nil { order.append(name) }
          times[name, default: []].append(duration.nanoseconds / Double(count))
        }
      }
    }
    let medians = order.map { ($0, median(times[$0] ?? [])) }
    if json {
      let lines = medians.map { "  {\"operation\": \"\($0.0)\", \"nanoseconds\": \($0.1)}" }
      print("[\n\(lines.joined(separator: ",\n"))\n]")
    } else {
      for (name, nanoseconds) in medians {
        print("\(name.padding(toLength: 40, withPad: " ", startingAt: 0)) \(text(nanoseconds))")
      }
    }
  }

  private func isWanted(_ name: String) -> Bool {
    only.isEmpty || only.contains { name.contains($0) }
  }

  private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private func text(_ nanoseconds: Double) -> String {
    String(format: "%12.1f ns", nanoseconds)
  }
}
