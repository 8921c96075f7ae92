/// Up to 256 objects of one class; valid while ``RealmFile/forEachLeaf(of:_:)`` calls with it.
public struct RealmFileLeaf {
  /// What each property's column took of the budget when it was read last.
  private final class Costs {
    var byteCounts: [Int: Int] = [:]
  }

  /// The keys of the objects, ascending.
  public let keys: [Int64]
  private let leaf: ObjectTreeLeaf
  private let file: RealmFile
  private let classIndex: Int
  private let walk: Walk
  private let costs = Costs()

  init(_ item: ObjectLeaves.Item, _ file: RealmFile, classIndex: Int, _ walk: Walk) {
    keys = item.keys
    leaf = item.leaf
    self.file = file
    self.classIndex = classIndex
    self.walk = walk
  }

  /// One value for each object, of a property.
  ///
  /// The column is read at each call.
  public func values(of propertyIndex: Int) throws(RealmFileError) -> [RealmFileValue] {
    let column = file.column(propertyIndex, of: classIndex)
    walk.beginColumn(refund: costs.byteCounts[propertyIndex] ?? 0)
    let start = walk.remainingByteCount
    defer { costs.byteCounts[propertyIndex] = start - walk.remainingByteCount }
    do throws(ReadFault) {
      return try file.reader.values(of: column, in: leaf, walk)
    } catch {
      throw error.error(
        path: file.path, className: file.classes[classIndex].name, propertyName: column.name)
    }
  }
}

extension RealmFile {
  /// Visits all objects of a class in the order of their keys, up to 256 at a time.
  ///
  /// Asymmetric classes have none. `classIndex` is an index into ``classes``.
  public func forEachLeaf(
    of classIndex: Int, _ body: (RealmFileLeaf) throws -> Void
  ) throws {
    let table = table(classIndex)
    if table.kind == .asymmetric { return }
    let walk = reader.makeWalk()
    var leaves = ObjectLeaves(root: table.objects, .class, walk)
    while let item = try next(&leaves, table) {
      if item.keys.isEmpty { continue }
      try body(RealmFileLeaf(item, self, classIndex: classIndex, walk))
    }
  }

  private func next(
    _ leaves: inout ObjectLeaves, _ table: ClassTable
  ) throws(RealmFileError) -> ObjectLeaves.Item? {
    do throws(ReadFault) {
      return try leaves.next()
    } catch {
      throw error.error(path: path, className: table.name)
    }
  }
}
