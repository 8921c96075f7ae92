// snippet.hide
import CambiumCore
import CambiumMemory

let store = MemoryStore()
// snippet.show
let database = try Database(store: store)
let transaction = try database.beginWrite()
let people = try transaction.createTable(
  "people", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "age")])
try people.insert(key: 1, values: [(column: 1, value: .int(36))])
let snapshot = try transaction.commit()

let row = try snapshot.table("people")?.seek(1)
// snippet.hide
print(row.flatMap { $0.leaf.column(1)?.int($0.row) } ?? 0)
