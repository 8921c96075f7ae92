import Foundation
import Synchronization

/// One promise of a contract, by name, and the proof of it.
///
/// An argument for a parameterized test: its description is its name.
public struct ContractCase<Subject: Sendable & CustomStringConvertible>: Sendable,
  CustomStringConvertible
{
  /// The promise, as a sentence.
  public let name: String
  /// Why the subject need not keep it; nil if it must.
  let exemption: @Sendable (Subject) -> String?
  let prove: @Sendable (ContractRun<Subject>) throws -> Void

  init(
    _ name: String, unless exemption: @escaping @Sendable (Subject) -> String? = { _ in nil },
    prove: @escaping @Sendable (ContractRun<Subject>) throws -> Void
  ) {
    self.name = name
    self.exemption = exemption
    self.prove = prove
  }

  /// The promise.
  public var description: String { name }

  /// Holds `subject` against the promise.
  ///
  /// Works in a folder of its own, which it removes. Returns after `limitSeconds` at the latest: what
  /// hangs then is left behind on its own thread.
  public func check(_ subject: Subject, limitSeconds: Double = 900) -> ContractResult {
    func result(_ outcome: ContractResult.Outcome) -> ContractResult {
      ContractResult(subject: "\(subject)", promise: name, outcome: outcome)
    }
    if let reason = exemption(subject) { return result(.exempt(reason)) }
    let run: ContractRun<Subject>
    do {
      run = try ContractRun(subject)
    } catch {
      return result(.broken(["no folder to work in: \(error)"]))
    }
    let ended = DispatchSemaphore(value: 0)
    let prove = prove
    let thread = Thread {
      do { try prove(run) } catch { run.note("threw \(error)") }
      ended.signal()
    }
    thread.stackSize = 8 << 20
    thread.start()
    let hasEnded = ended.wait(timeout: .now() + limitSeconds) == .success
    // What did not end finds its folder gone.
    run.cleanUp()
    if !hasEnded {
      return result(.broken(run.findings + ["did not end within \(limitSeconds) s"]))
    }
    return result(run.findings.isEmpty ? .kept : .broken(run.findings))
  }
}

/// What came of holding a subject against one promise.
public struct ContractResult: Sendable, CustomStringConvertible {
  /// Whether the promise was kept.
  public enum Outcome: Hashable, Sendable {
    /// It was.
    case kept
    /// The subject does not give it; why.
    case exempt(String)
    /// It was not; what was found.
    case broken([String])
  }

  /// The subject's name.
  public let subject: String
  /// The promise.
  public let promise: String
  /// Whether it was kept.
  public let outcome: Outcome

  /// What was found, a line each, with subject and promise; empty unless the promise was broken.
  public var findings: [String] {
    guard case .broken(let findings) = outcome else { return [] }
    return findings.map { "\(subject): \(promise): \($0)" }
  }

  /// One line, or one per finding.
  public var description: String {
    switch outcome {
    case .kept: "\(subject): \(promise): kept"
    case .exempt(let reason): "\(subject): \(promise): not asked of it, \(reason)"
    case .broken: findings.joined(separator: "\n")
    }
  }
}

/// One check of one promise: what it works with, and what it found.
public final class ContractRun<Subject: Sendable & CustomStringConvertible>: Sendable {
  let subject: Subject
  /// An empty folder.
  let folder: String
  private let noted = Mutex<[String]>([])
  private static var findingLimit: Int { 20 }

  init(_ subject: Subject) throws {
    self.subject = subject
    folder = NSTemporaryDirectory() + "cambium-contract-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  func cleanUp() { try? FileManager.default.removeItem(atPath: folder) }

  /// What was found so far.
  var findings: [String] { noted.withLock { $0 } }

  /// Notes a finding; any thread.
  func note(_ finding: String) {
    noted.withLock { noted in
      if noted.count < Self.findingLimit { noted.append(finding) }
    }
  }

  func note(_ findings: [String]) { for finding in findings { note(finding) } }

  /// Notes `finding` unless `condition` holds; any thread.
  func expect(_ condition: Bool, _ finding: @autoclosure () -> String) {
    if !condition { note(finding()) }
  }

  /// Runs `body` on `count` threads at once and waits for all of them; what they throw is noted.
  func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    let ended = DispatchSemaphore(value: 0)
    for index in 0..<count {
      let thread = Thread {
        do { try body(index) } catch { self.note("thread \(index) threw \(error)") }
        ended.signal()
      }
      thread.stackSize = 4 << 20
      thread.start()
    }
    for _ in 0..<count { ended.wait() }
  }
}
