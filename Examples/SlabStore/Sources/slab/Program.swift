import CambiumCore
import CambiumStoreContract
import Foundation

/// `slab` holds the store against the contract, and then shows that room is used again.
@main
struct Program {
  static func main() throws {
    var subject = StoreSubject("slab") { place throws(StoreError) in
      SlabStore(name: place.path, codec: place.codecName)
    }
    subject.isPersistent = false
    subject.canBeReadOnly = false
    subject.sharing = .separate
    let broken = StoreContract.check(subject).filter { !$0.findings.isEmpty }
    for result in broken { print(result) }
    if !broken.isEmpty { exit(1) }
    print("The contract is kept.")

    let database = try Database(store: SlabStore(name: "slab"))
    for round in 0..<10_000 {
      let transaction = try database.beginWrite()
      try transaction.setValue("value", Array(repeating: UInt8(round & 255), count: 4_000))
      _ = try transaction.commit()
    }
    let statistics = try database.statistics()
    print("10,000 versions of a page take \(statistics.totalByteCount >> 10) KiB")
  }
}
