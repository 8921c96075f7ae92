/// What goes wrong below the public functions, which add what they know.
enum ReadFault: Error {
  /// Something in the file breaks its format; `position` is a ref or another place in the plain file.
  case damage(String, position: Int?)
  /// The file itself cannot be read.
  case file(RealmFileError)

  /// The error for users, with the names of what was read.
  func error(
    path: String, className: String? = nil, propertyName: String? = nil
  ) -> RealmFileError {
    switch self {
    case .damage(let what, let position):
      .damaged(
        RealmFileError.Damage(
          what, position: position, className: className, propertyName: propertyName),
        path: path)
    case .file(let error): error
    }
  }
}
