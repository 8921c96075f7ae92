import Foundation

/// How many bytes the files of a freshly loaded database take.
struct FileSize: Workload {
  let folder: TemporaryFolder

  var id: String { "W12" }
  var title: String { "size of the files" }
  var start: Contents { .people }
  var end: Contents { .people }
  var roundLimit: Int? { 1 }

  func suits(_ engine: any Engine.Type) -> Bool {
    engine is any BulkLoading.Type && engine != FloorEngine.self
  }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    let bytes = try folder.byteCount(of: type(of: engine).name)
    return [
      Figure(
        Measure(
          workload: id, variant: "files after inserting in key order", unit: "MB", isPerRun: true,
          aims: [.share(0.65, of: LMDBEngine.name), .share(0.75, of: SQLiteEngine.name)]),
        Double(bytes) / 1e6)
    ]
  }
}
