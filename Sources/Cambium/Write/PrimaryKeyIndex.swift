import CambiumCore

/// Finds objects by primary keys that are not object keys.
enum PrimaryKeyIndex {
  /// The object whose value has `form`; `matches` decides where the form alone does not tell.
  static func find(
    _ form: [UInt8], in tree: KeyTree, _ matches: (Int64) -> Bool
  ) throws(StoreError) -> Int64? {
    var cursor = tree.cursor()
    var isValid = try cursor.seek(to: form)
    while isValid {
      let key = cursor.key
      guard key.count == form.count + 8, key.starts(with: form) else { return nil }
      if let object = IndexKey.objectKey(key), IndexKey.isExact(form) || matches(object) {
        return object
      }
      isValid = try cursor.next()
    }
    return nil
  }
}
