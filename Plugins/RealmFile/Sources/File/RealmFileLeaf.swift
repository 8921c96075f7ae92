/// Up to 256 objects of one class; valid while ``RealmFile/forEachLeaf(of:_:)`` calls with it.
public struct RealmFileLeaf {
  /// What reading a property's column took of the budget.
  private struct Cost {
    /// All of it, since the column was begun.
    var total = Walk.Spending()
    /// What every part of it reads.
    var shared = Walk.Spending()
  }

  private final class Costs {
    var byProperty: [Int: Cost] = [:]
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
    try values(of: propertyIndex, from: 0, byteLimit: .max)
  }

  /// The values of a property of the objects from the one at `start` on, which is below the number of ``keys``:
  /// of all that are left, or of fewer when they have taken more than `byteLimit` bytes of the file, but of one
  /// at least.
  ///
  /// For properties whose values may be large. A part begins where the last one has ended, or at 0.
  public func values(
    of propertyIndex: Int, from start: Int, byteLimit: Int
  ) throws(RealmFileError) -> [RealmFileValue] {
    let column = file.column(propertyIndex, of: classIndex)
    var cost = costs.byProperty[propertyIndex] ?? Cost()
    // Each node of a sound file is read once: what is read again is not to be taken for damage.
    walk.refund(start == 0 ? cost.total : cost.shared)
    cost.total = start == 0 ? Walk.Spending() : cost.total - cost.shared
    let before = walk.spent
    let part = LeafPart(from: start, byteLimit: byteLimit, walk)
    defer {
      cost.total = cost.total + (walk.spent - before)
      cost.shared = part.spentBefore - before
      costs.byProperty[propertyIndex] = cost
    }
    do throws(ReadFault) {
      return try file.reader.values(of: column, in: leaf, part, walk)
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
      walk.beginLeaf()
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
