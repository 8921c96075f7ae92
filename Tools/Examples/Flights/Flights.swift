import ArgumentParser
import Cambium
import Foundation

/// Imports a year of flights, asks questions, deletes beside a frozen view, compacts and reopens.
@main
struct Flights: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stores all flights that left New York City in 2013 and asks about them.")

  @Option(help: "Where pages live: file, memory or, when built with that trait, rocksdb.")
  var store = "file"

  @Option(
    help:
      "What pages go through: none, or when built with those traits zstd:3, aes-256-gcm, zstd:3+aes-256-gcm."
  )
  var codec = "none"

  @Option(help: "Keep the store at this path; otherwise it goes to a folder that is removed.")
  var at: String?

  @Option(help: "The folder with the data files.")
  var data: String?

  @Flag(help: "Only import the data and compact the file.")
  var importOnly = false

  func validate() throws {
    guard Place.stores.contains(store) else {
      let known = Place.stores.map { "'\($0)'" }.joined(separator: ", ")
      throw ValidationError("--store is one of \(known), not '\(store)'.")
    }
    if store == "memory", at != nil {
      throw ValidationError("A memory store has no path; leave --at out.")
    }
    if codec.hasSuffix(Place.cipher), at != nil {
      throw ValidationError("The example forgets its key: leave --at out to encrypt.")
    }
  }

  func run() throws {
    let place = try Place(store: store, codec: codec, path: at)
    defer { place.remove() }
    let stopwatch = Stopwatch()
    let finished = try FlightsRun(
      place: place, folder: DataFolder(path: data), stopwatch: stopwatch,
      importOnly: importOnly
    ).run()
    stopwatch.report()
    withExtendedLifetime(finished) {}
  }
}
