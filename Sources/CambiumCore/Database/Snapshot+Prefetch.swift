extension Snapshot {
  /// Brings the pages of a table's rows into the cache, so that reading them does not wait.
  ///
  /// From the first row on, at most half as many as the cache keeps. Values with pages of their own are left out.
  ///
  /// Does nothing where the store lends its memory. Takes as long as reading them does, many at a time;
  /// throws what that throws.
  package func prefetch(_ name: String) throws(StoreError) {
    guard source.usesCache, let table = try table(name) else { return }
    var bytesLeft = source.cache.byteLimit / 2
    for group in table.groups {
      var cursor = group.leafCursor()
      var isValid = try cursor.first()
      while isValid, bytesLeft > 0 {
        bytesLeft -= cursor.leaf.page.byteCount
        isValid = try cursor.next()
      }
    }
  }
}
