import ArgumentParser

@main struct CambiumTool: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "cambium")
}
