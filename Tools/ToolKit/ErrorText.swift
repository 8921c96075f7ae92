import Cambium
import CambiumCore

/// What tools say of errors.
package enum ErrorText {
  /// The error in a line, or more where it shows a place; nil for one that is none of this project's.
  package static func line(_ error: any Error) -> String? {
    switch error {
    case let error as StoreError: line(error)
    case let error as Realm.Error: line(error)
    case let error as QueryError: error.description
    case let error as TransferError: error.description
    default: nil
    }
  }

  private static func line(_ error: Realm.Error) -> String {
    // The library's advice is for programs.
    if error.code == .fileFormatUpgradeRequired, let path = error.path,
      RealmFileSummary.isPlainRealmFile(path)
    {
      return realmFile(path)
    }
    return error.underlying.map(line) ?? error.localizedDescription
  }

  /// What can be done with a file of Realm where a store belongs.
  private static func realmFile(_ path: String) -> String {
    "'\(path)' is a file of Realm: 'cambium import \(path) NEW' brings its content into a store, and "
      + "'cambium inspect', 'query', 'schema', 'diff' and 'export' read it as it is."
  }

  // No command creates stores at such a path, so that part of the library's advice is left out.
  private static func line(_ error: StoreError) -> String {
    if case .notAStore(let path, _) = error {
      if RealmFileSummary.isPlainRealmFile(path) { return realmFile(path) }
      if path.hasSuffix(".realm") {
        return
          "\(error) If Realm has written it, it is encrypted: name the file with its key (--key-file)."
      }
    }
    guard case .notFound(let path) = error else { return "\(error)" }
    return "No store at '\(path)': No such file or directory. Check the path."
  }
}
