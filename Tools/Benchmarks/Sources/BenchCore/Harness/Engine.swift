/// A storage engine that takes part in the benchmark.
///
/// An engine keeps everything in its own folder. What it can do it says by adopting the protocol
/// of a workload (`BulkLoading`, `PointReading` …); a workload passes over engines that do not.
/// The loops lie inside the engines, so that no call through a protocol is ever inside a timing.
protocol Engine: AnyObject {
  /// The name in the results.
  static var name: String { get }

  /// Makes an engine over a folder that exists; nothing is opened yet.
  init(folder: String)

  /// Creates an empty database in the folder and opens it.
  func create() throws

  /// Opens the database in the folder.
  func open() throws

  /// Closes it; what was committed stays.
  func close()

  /// Finishes what the engine put off: checkpoints, compactions. Never measured.
  func settle() throws
}

extension Engine {
  func settle() throws {}
}
