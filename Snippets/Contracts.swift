// snippet.hide
import CambiumCore
import CambiumMemory

// snippet.show
/// How many rows all tables have together, in a version or in a change that is not committed yet.
func rowCount(in reader: some ReadTransaction) throws(StoreError) -> Int {
  var count = 0
  for name in try reader.names(withPrefix: "") { count += try reader.table(name)?.count ?? 0 }
  return count
}

/// Adds a row to a table, which is made when there is none.
func add(_ age: Int64, to name: String, in change: some WriteTransaction) throws(StoreError) {
  let column = ColumnDescriptor(type: .int, isNullable: false, name: "age")
  let table =
    if let table = try change.editTable(name) { table } else {
      try change.createTable(name, columns: [column])
    }
  try table.insert(key: try table.generateKey(), values: [(column: 1, value: .int(age))])
}

/// How many keys or rows differ between two versions of a tree of either kind.
func changeCount<Tree: VersionedTree>(from old: Tree, to new: Tree) throws(StoreError) -> Int {
  var count = 0
  try Tree.diff(old: old, new: new) { _ in count += 1 }
  return count
}
// snippet.next

let database = try Database(store: MemoryStore())
let first = try database.beginWrite()
try add(36, to: "people", in: first)
print(try rowCount(in: first))
let old = try first.commit()

let second = try database.beginWrite()
try add(41, to: "people", in: second)
try add(7, to: "cats", in: second)
let new = try second.commit()
print(try rowCount(in: new))

if let before = try old.table("people"), let after = try new.table("people") {
  print(try changeCount(from: before.groups[0], to: after.groups[0]))
}
