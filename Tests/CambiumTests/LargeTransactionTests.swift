import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import Cambium

/// What a transaction has changed is written ahead of its commit when it outgrows its budget.
@Suite struct LargeTransactionTests {
  final class Page: Object {
    @Persisted(primaryKey: true) var number: Int
    @Persisted var text = ""
    @Persisted(indexed: true) var mark = ""
    @Persisted var next: Page?
    @Persisted var lines: List<String>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  final class Note: Object {
    @Persisted var text = ""
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  private static let budget = 12 << 10
  private static let long = String(repeating: "long text ", count: 40)

  private func realm(_ pages: Int, budget: Int = budget) throws -> Realm {
    var configuration = specConfiguration([Page.self, Note.self])
    configuration.databaseOptions.transactionBudgetByteCount = budget
    let realm = try Realm(configuration: configuration)
    try realm.write {
      for number in 0..<pages {
        realm.create(Page.self, value: ["number": number, "text": Self.long] as [String: Any])
      }
    }
    return realm
  }

  /// The bytes that the running transaction keeps in memory.
  private func held(_ realm: Realm) throws -> Int {
    try #require(realm.instance.session).transaction.context.dirty.byteCount
  }

  @Test func `a class is read as it is after its pages were written`() throws {
    // What is changed first fits, what comes then does not.
    let realm = try realm(0, budget: 128 << 10)
    try realm.write {
      realm.create(Page.self, value: ["number": 1, "lines": [Self.long, Self.long]])
      let pages = realm.objects(Page.self)
      let lines = try #require(pages.first).lines
      #expect(pages.map(\.number) == [1])
      #expect(lines.count == 2)
      for number in 0..<600 {
        realm.create(Note.self, value: ["text": "\(number) \(Self.long)"])
      }
      #expect(pages.map(\.number) == [1])
      #expect(pages.index(of: try #require(pages.first)) == 0)
      #expect(Array(lines) == [Self.long, Self.long])
    }
    #expect(realm.objects(Note.self).count == 600)
  }

  @Test func `changes of objects stay within the budget`() throws {
    let realm = try realm(200)
    let pages = Array(realm.objects(Page.self))
    var most = 0
    try realm.write {
      for page in pages {
        page.text = "\(page.number) \(Self.long)"
        page.mark = "mark \(page.number) \(Self.long)"
        page.next = pages[(page.number + 77) % 200]
        page.lines.append(Self.long + "\(page.number)")
        most = max(most, try held(realm))
      }
    }
    #expect(most < 4 * Self.budget, "\(most) bytes")
    #expect(pages.allSatisfy { $0.text.hasPrefix("\($0.number) ") })
    #expect(pages.allSatisfy { $0.next?.number == ($0.number + 77) % 200 && $0.lines.count == 1 })
    #expect(realm.objects(Page.self).where { $0.mark == "mark 7 \(Self.long)" }.count == 1)
  }

  @Test func `changes of long lists stay within the budget`() throws {
    let realm = try realm(40)
    let pages = Array(realm.objects(Page.self))
    var most = 0
    try realm.write {
      for round in 0..<5 {
        for page in pages {
          page.lines.append(objectsIn: (0..<3).map { "\(round) \($0) \(Self.long)" })
          if round > 2 { page.lines.remove(at: 0) }
          most = max(most, try held(realm))
        }
      }
    }
    #expect(most < 4 * Self.budget, "\(most) bytes")
    for page in pages {
      #expect(page.lines.count == 13)
      #expect(page.lines.first == "0 2 \(Self.long)")
      #expect(page.lines.last == "4 2 \(Self.long)")
    }
  }

  @Test func `deleting one by one and many at once stays within the budget`() throws {
    let realm = try realm(400)
    var most = 0
    try realm.write {
      for page in realm.objects(Page.self).where({ $0.number < 200 }) {
        realm.delete(page)
        most = max(most, try held(realm))
      }
      realm.delete(realm.objects(Page.self).where { $0.number < 300 })
      most = max(most, try held(realm))
    }
    #expect(most < 4 * Self.budget, "\(most) bytes")
    #expect(realm.objects(Page.self).map(\.number) == Array(300..<400))
  }
}
