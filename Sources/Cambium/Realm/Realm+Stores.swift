import CambiumCore
import CambiumFile
import CambiumMemory

extension Realm.Store {
  /// A file, read through a mapping.
  public static let file = Realm.Store(
    kind: "file", delete: { path throws(StoreError) in try FileStore.delete(path: path) }
  ) { request throws(StoreError) in
    var options = FileStoreOptions()
    options.isReadOnly = request.isReadOnly
    options.codec = request.codec
    options.maximumByteCount = request.maximumByteCount
    options.upgradesFormat = request.upgradesFormat
    return try FileStore(path: request.path, options: options)
  }

  /// Memory: shared by all in the process that name it, gone with its last user.
  public static let memory = Realm.Store(kind: "memory", isVolatile: true) {
    request throws(StoreError) in
    let limit = request.maximumByteCount
    guard let codec = request.codec else {
      return MemoryStore(name: request.path, maximumByteCount: limit)
    }
    return try MemoryStore(name: request.path, codec: codec, maximumByteCount: limit)
  }
}
