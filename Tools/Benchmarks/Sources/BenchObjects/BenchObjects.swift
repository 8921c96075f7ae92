import ArgumentParser

/// Measures what objects cost.
@main
struct BenchObjects: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-objects",
    abstract: "Measures what objects cost.",
    subcommands: [CensusCommand.self, Operations.self], defaultSubcommand: CensusCommand.self)
}

extension Duration {
  /// The whole duration in nanoseconds.
  var nanoseconds: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) * 1e-9
  }
}
