import Cambium
import Foundation

/// `importer FILE.csv DATABASE` imports measurements and shows how far it is.
@main
struct Program {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard let source = arguments.first, let destination = arguments.dropFirst().first else {
      end("usage: importer FILE.csv DATABASE")
    }
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: destination), objectTypes: [Measurement.self])
    do {
      let importer = try await Importer(configuration)
      let start = ContinuousClock.now
      try await importer.run(URL(fileURLWithPath: source)) { progress in
        let percent =
          progress.byteCount > 0 ? progress.readByteCount * 100 / progress.byteCount : 100
        let rate = Double(progress.importedCount) / ((ContinuousClock.now - start) / .seconds(1))
        write("\r\(percent) %, \(Int(rate)) lines a second", to: .standardError)
      }
      write("\n", to: .standardError)
      let database = try await RealmDatabase(configuration)
      let summary = try await database.read { realm in
        let measurements = realm.objects(Measurement.self)
        let mean: Double? = measurements.average(ofProperty: "value")
        let sensors = measurements.distinct(by: ["sensor"]).count
        return "\(measurements.count) measurements of \(sensors) sensors, \(mean ?? 0) on average"
      }
      print(summary)
      await database.close()
    } catch {
      end((error as? Realm.Error)?.localizedDescription ?? "\(error)")
    }
  }

  private static func write(_ text: String, to handle: FileHandle) { handle.write(Data(text.utf8)) }

  private static func end(_ message: String) -> Never {
    write("\(message)\n", to: .standardError)
    exit(1)
  }
}
