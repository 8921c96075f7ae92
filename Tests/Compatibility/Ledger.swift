import Foundation
import RealmSwift
import Testing

// Double-entry books in several currencies: what does not balance is not stored.

class LedgerAccount: Object {
  enum Kind: Int, PersistableEnum { case asset, liability, income, expense }
  @Persisted(primaryKey: true) var number = 0
  @Persisted var name = ""
  @Persisted var kind = Kind.asset
  @Persisted var balances: Map<String, Decimal128>
  @Persisted(originProperty: "account") var postings: LinkingObjects<LedgerPosting>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class LedgerPosting: EmbeddedObject {
  @Persisted var account: LedgerAccount?
  @Persisted var amount: Decimal128 = 0
  @Persisted(originProperty: "postings") var entry: LinkingObjects<LedgerEntry>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class LedgerEntry: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted(indexed: true) var day = Date()
  @Persisted var currency = "EUR"
  @Persisted var text = ""
  @Persisted var postings: List<LedgerPosting>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

enum LedgerError: Error, Equatable { case unbalanced(String) }

struct Ledger {
  let realm: Realm

  init() throws {
    realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "ledger",
        objectTypes: [LedgerAccount.self, LedgerPosting.self, LedgerEntry.self]))
  }

  func post(_ text: String, day: Int, currency: String = "EUR", _ postings: [Int: Decimal128])
    throws
  {
    try realm.write {
      let entry = realm.create(
        LedgerEntry.self,
        value: ["id": (realm.objects(LedgerEntry.self).max(ofProperty: "id") ?? 0) + 1])
      entry.text = text
      entry.currency = currency
      entry.day = Date(timeIntervalSince1970: Double(day) * 86_400)
      for (number, amount) in postings.sorted(by: { $0.key < $1.key }) {
        guard let account = realm.object(ofType: LedgerAccount.self, forPrimaryKey: number) else {
          continue
        }
        let posting = LedgerPosting()
        posting.account = account
        posting.amount = amount
        entry.postings.append(posting)
        account.balances[currency] = (account.balances[currency] ?? 0) + amount
      }
      let sum: Decimal128 = entry.postings.sum(ofProperty: "amount")
      guard sum == 0 else { throw LedgerError.unbalanced(sum.stringValue) }
    }
  }
}

@Suite struct LedgerProgram {
  @Test func `entries balance, balances follow, and nothing is lost to rounding`() throws {
    let ledger = try Ledger()
    let realm = ledger.realm
    try realm.write {
      for (number, name, kind) in [
        (1, "Bank", LedgerAccount.Kind.asset), (2, "Rent", .expense), (3, "Salary", .income),
        (4, "Coffee", .expense),
      ] {
        realm.create(LedgerAccount.self, value: ["number": number, "name": name, "kind": kind])
      }
    }
    try ledger.post("Salary", day: 1, [1: "2500.00", 3: "-2500.00"])
    try ledger.post("Rent", day: 2, [1: "-812.37", 2: "812.37"])
    for day in 3..<103 { try ledger.post("Coffee", day: day, [1: "-0.1", 4: "0.1"]) }
    try ledger.post("Abroad", day: 5, currency: "USD", [1: "-3.333", 4: "3.333"])
    #expect(throws: LedgerError.unbalanced("0.01")) {
      try ledger.post("Wrong", day: 9, [1: "-1", 2: "1.01"])
    }
    let bank = try #require(realm.object(ofType: LedgerAccount.self, forPrimaryKey: 1))
    #expect(bank.balances["EUR"] == "1677.63" && bank.balances["USD"] == "-3.333")
    #expect(bank.postings.count == 103 && realm.objects(LedgerEntry.self).count == 103)
    let spent: Decimal128 = realm.objects(LedgerEntry.self).where { $0.text == "Coffee" }
      .reduce(0) { $0 + ($1.postings.max(ofProperty: "amount") ?? Decimal128(0)) }
    #expect(spent == 10)
    let month = realm.objects(LedgerEntry.self)
      .filter(
        "day >= %@ AND day < %@", Date(timeIntervalSince1970: 0),
        Date(timeIntervalSince1970: 31 * 86_400)
      )
      .sorted(by: \.day)
    #expect(month.count == 31 && month.first?.text == "Salary")
    #expect(
      realm.objects(LedgerEntry.self).where { $0.postings.amount < -100 }.map(\.text).sorted() == [
        "Rent", "Salary",
      ])
    let expenses = realm.objects(LedgerAccount.self).where { $0.kind == .expense }
    #expect(
      expenses.sorted(byKeyPath: "balances[EUR]", ascending: false).map(\.name) == [
        "Rent", "Coffee",
      ])
    let total = realm.objects(LedgerAccount.self).reduce(Decimal128(0)) {
      $0 + ($1.balances["EUR"] ?? 0)
    }
    #expect(total == 0)
    #expect(bank.postings.first?.entry.first?.text == "Salary")
  }
}
