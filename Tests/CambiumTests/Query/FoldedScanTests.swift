import Cambium
import Foundation
import TestSupport
import Testing

/// Conditions on texts that pass over case and diacritical marks, over leaves of every form.
@Suite struct FoldedScanTests {
  class Word: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text: String?
  }

  /// Texts as they come in stretches of a table: alike or not, of ASCII or not.
  private static func stretch(_ kind: Int, _ random: inout SeededGenerator) -> [String?] {
    func letters(_ count: ClosedRange<Int>, _ alphabet: String) -> String {
      let alphabet = Array(alphabet)
      return String(
        (0..<Int.random(in: count, using: &random)).map { _ in
          alphabet.randomElement(using: &random) ?? "a"
        })
    }
    return (0..<400).map { index in
      switch kind {
      case 0: letters(0...12, "abAB[@`{zZ")
      case 1: "Beginning " + letters(0...6, "aAbB") + " END"
      case 2: ["Ab", "aB", "BA", ""].randomElement(using: &random) ?? ""
      case 3: "AlwaysTheSame"
      case 4: letters(0...6, "aAäÄéEß")
      case 5: index == 200 ? "Ä" : letters(0...6, "aAbB")
      case 6: index % 3 == 0 ? nil : letters(0...8, "abAB")
      default: index % 50 == 0 ? String(repeating: "aB", count: 3000) : letters(0...4, "aBcA")
      }
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `each operator finds what folding each text by itself finds`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let kinds = (0..<12).map { _ in Int.random(in: 0...7, using: &random) }
    let texts = kinds.flatMap { Self.stretch($0, &random) }
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Word.self]))
    try realm.write {
      for (id, text) in texts.enumerated() {
        realm.create(Word.self, value: ["id": id, "text": text as Any])
      }
    }
    let options: [(String, String.CompareOptions)] = [
      ("c", .caseInsensitive), ("d", .diacriticInsensitive),
      ("cd", [.caseInsensitive, .diacriticInsensitive]),
    ]
    for (name, folding) in options {
      let folded = texts.map { $0?.folding(options: folding, locale: nil) }
      for piece in ["a", "AB", "end", "BEGINNING A", "alwaysTheSame", "", "ä", "aBaB", "z[", "É"] {
        let sought = piece.folding(options: folding, locale: nil)
        func check(_ operation: String, _ holds: (String) -> Bool) {
          let found = realm.objects(Word.self).filter("text \(operation)[\(name)] %@", piece)
          let expected = folded.indices.filter { folded[$0].map(holds) ?? (operation == "!=") }
          #expect(
            found.map(\.id) == expected, "\(operation)[\(name)] '\(piece)', kinds \(kinds)")
        }
        check("==") { Array($0.utf8) == Array(sought.utf8) }
        check("!=") { Array($0.utf8) != Array(sought.utf8) }
        if sought.isEmpty { continue }
        check("BEGINSWITH") { $0.utf8.starts(with: sought.utf8) }
        check("ENDSWITH") { $0.utf8.reversed().starts(with: sought.utf8.reversed()) }
        check("CONTAINS") { Data($0.utf8).range(of: Data(sought.utf8)) != nil }
      }
    }
  }
}
