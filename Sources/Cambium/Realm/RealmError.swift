import CambiumCore
import Foundation

extension Realm {
  /// What opening, committing and copying throw.
  public typealias Error = RLMError
}

/// A failure of the database, with a code, a text and the path it concerns.
///
/// ```swift
/// do { realm = try Realm() } catch Realm.Error.fileNotFound { … }
/// ```
public struct RLMError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// What kind of failure it is.
  public enum Code: Int, Hashable, Sendable {
    /// Anything without a better code.
    case fail = 1
    /// Reading or writing the file failed.
    case fileAccess = 2
    /// The operating system refused access.
    case filePermissionDenied = 3
    /// The destination of a copy is already there.
    case fileExists = 4
    /// There is no file, or its folder is missing.
    case fileNotFound = 5
    /// The file has an older format and must not be upgraded.
    case fileFormatUpgradeRequired = 6
    /// Another process holds the file.
    case incompatibleLockFile = 8
    /// The file could not be mapped.
    case addressSpaceExhausted = 9
    /// The stored classes differ from those of the program.
    case schemaMismatch = 10
    /// The file is open.
    case alreadyOpen = 12
    /// A value has no valid form.
    case invalidInput = 13
    /// The medium is full.
    case outOfDiskSpace = 14
    /// Not used locally.
    case incompatibleSession = 15
    /// The file was written by a newer version of the library.
    case unsupportedFileFormatVersion = 16
    /// Not used locally.
    case multipleSyncAgents = 17
    /// Not used locally.
    case subscriptionFailed = 18
    /// Another operation on the file failed.
    case fileOperationFailed = 19
    /// The file is no database, is damaged, or needs another key.
    case invalidDatabase = 20
    /// Not used.
    case incompatibleHistories = 21
    /// Not used locally.
    case noSubscriptionForWrite = 22
  }

  /// The domain of all codes.
  public static var errorDomain: String { "io.realm" }

  /// A call failed without a better reason.
  public static let callFailed = RLMError(.fail, "Call failed")

  /// What kind of failure it is.
  public let code: Code
  /// What happened, and the way out.
  package let message: String
  /// The path of the file concerned, if one is.
  package let path: String?
  /// The engine's own error, if it was one.
  package let underlying: StoreError?

  /// An error with the entries of an `NSError`'s dictionary; text and path are taken from it.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.init(
      code, userInfo[NSLocalizedDescriptionKey] as? String ?? "Realm error \(code.rawValue)",
      path: userInfo[NSFilePathErrorKey] as? String)
  }

  init(_ code: Code, _ message: String, path: String? = nil, underlying: StoreError? = nil) {
    self.code = code
    self.message = message
    self.path = path
    self.underlying = underlying
  }

  /// The code as an integer.
  public var errorCode: Int { code.rawValue }

  /// The text, the path and the code's name, as an `NSError` keeps them.
  public var userInfo: [String: Any] { errorUserInfo }

  /// The text, the path and the code's name, as an `NSError` keeps them.
  public var errorUserInfo: [String: Any] {
    var entries: [String: Any] = [
      NSLocalizedDescriptionKey: message, "Error Code": code.rawValue, "Error Name": "\(code)",
    ]
    if let path { entries[NSFilePathErrorKey] = path }
    return entries
  }

  /// What happened, and the way out.
  public var errorDescription: String? { message }

  /// What happened, and the way out.
  public var localizedDescription: String { message }

  /// The file concerned, if one is.
  public var fileURL: URL? { path.map { URL(fileURLWithPath: $0) } }

  /// Whether domain and code are the same.
  public static func == (lhs: RLMError, rhs: RLMError) -> Bool { lhs.code == rhs.code }

  /// Feeds the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension RLMError: CustomStringConvertible {
  /// The code's name and the text.
  public var description: String { "Realm.Error.\(code): \(message)" }
}

extension RLMError {
  /// For `catch Realm.Error.fail`.
  public static let fail = Code.fail
  /// For `catch Realm.Error.fileAccess`.
  public static let fileAccess = Code.fileAccess
  /// For `catch Realm.Error.filePermissionDenied`.
  public static let filePermissionDenied = Code.filePermissionDenied
  /// For `catch Realm.Error.fileExists`.
  public static let fileExists = Code.fileExists
  /// For `catch Realm.Error.fileNotFound`.
  public static let fileNotFound = Code.fileNotFound
  /// For `catch Realm.Error.fileFormatUpgradeRequired`.
  public static let fileFormatUpgradeRequired = Code.fileFormatUpgradeRequired
  /// For `catch Realm.Error.incompatibleLockFile`.
  public static let incompatibleLockFile = Code.incompatibleLockFile
  /// For `catch Realm.Error.addressSpaceExhausted`.
  public static let addressSpaceExhausted = Code.addressSpaceExhausted
  /// For `catch Realm.Error.schemaMismatch`.
  public static let schemaMismatch = Code.schemaMismatch
  /// For `catch Realm.Error.alreadyOpen`.
  public static let alreadyOpen = Code.alreadyOpen
  /// For `catch Realm.Error.invalidInput`.
  public static let invalidInput = Code.invalidInput
  /// For `catch Realm.Error.outOfDiskSpace`.
  public static let outOfDiskSpace = Code.outOfDiskSpace
  /// For `catch Realm.Error.unsupportedFileFormatVersion`.
  public static let unsupportedFileFormatVersion = Code.unsupportedFileFormatVersion
  /// For `catch Realm.Error.fileOperationFailed`.
  public static let fileOperationFailed = Code.fileOperationFailed
  /// For `catch Realm.Error.invalidDatabase`.
  public static let invalidDatabase = Code.invalidDatabase
  /// For `catch Realm.Error.incompatibleHistories`.
  public static let incompatibleHistories = Code.incompatibleHistories
}

/// Whether `value` is a Realm error with the code `pattern`; lets `catch` name codes.
public func ~= (pattern: RLMError.Code, value: any Swift.Error) -> Bool {
  (value as? RLMError)?.code == pattern
}

/// Whether both errors have the same domain and code.
public func == (lhs: any Swift.Error, rhs: any Swift.Error) -> Bool {
  if let lhs = lhs as? RLMError, let rhs = rhs as? RLMError { return lhs.code == rhs.code }
  // Not by way of NSError: outside of Apple's platforms a Swift error cannot be cast to it.
  return lhs._domain == rhs._domain && lhs._code == rhs._code
}
