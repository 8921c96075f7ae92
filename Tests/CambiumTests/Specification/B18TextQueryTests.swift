import Cambium
import Testing

/// Section B18: conditions on texts, through both front ends.
@Suite struct B18TextQueryTests {
  @Test func `strings compare by bytes`() throws {
    let realm = try specQueryRealm()
    same(realm, "string == 'Ann'", [], { $0.string == "Ann" }, { $0.string == "Ann" })
    same(realm, "string == \"ann\"", [], { $0.string == "ann" }, { _ in false })
    same(
      realm, "string ==[c] 'ANN'", [], { $0.string.equals("ANN", options: .caseInsensitive) },
      {
        $0.string == "Ann"
      })
    same(
      realm, "string ==[cd] 'anna'", [],
      {
        $0.string.equals("anna", options: [.caseInsensitive, .diacriticInsensitive])
      }, { ["anna", "ÄNNA"].contains($0.string) })
    same(realm, "string ==[c] 'änna'", [], nil, { $0.string == "ÄNNA" })
    same(realm, "string ==[d] 'ANNA'", [], nil, { $0.string == "ÄNNA" })
    same(
      realm, "string !=[c] 'ann'", [], { $0.string.notEquals("ann", options: .caseInsensitive) },
      {
        $0.string != "Ann"
      })
    same(realm, "string < 'Bob'", [], { $0.string < "Bob" }, { ["", "Ann"].contains($0.string) })
    same(realm, "string >= 'b'", [], { $0.string >= "b" }, { ["b*b", "ÄNNA"].contains($0.string) })
    same(
      realm, "string BEGINSWITH 'A'", [], { $0.string.starts(with: "A") }, { $0.string == "Ann" })
    same(
      realm, "string BEGINSWITH[c] 'a'", [],
      {
        $0.string.starts(with: "a", options: .caseInsensitive)
      }, { ["Ann", "anna"].contains($0.string) })
    same(realm, "string ENDSWITH 'na'", [], { $0.string.ends(with: "na") }, { $0.string == "anna" })
    same(
      realm, "string CONTAINS[cd] 'NN'", [],
      {
        $0.string.contains("NN", options: [.caseInsensitive, .diacriticInsensitive])
      }, { ["Ann", "anna", "ÄNNA"].contains($0.string) })
    same(realm, "string CONTAINS ''", [], { $0.string.contains("") }, { _ in false })
    same(realm, "string BEGINSWITH ''", [], { $0.string.starts(with: "") }, { _ in false })
    same(realm, "stringO ENDSWITH nil", [], { $0.stringO.ends(with: nil) }, { _ in false })
    same(realm, "string LIKE 'A*'", [], { $0.string.like("A*") }, { $0.string == "Ann" })
    same(
      realm, "string LIKE[c] '?nn*'", [], { $0.string.like("?nn*", caseInsensitive: true) },
      {
        ["Ann", "anna", "ÄNNA"].contains($0.string)
      })
    same(realm, "string LIKE 'b?b'", [], { $0.string.like("b?b") }, { $0.string == "b*b" })
    same(realm, "string LIKE '*'", [], { $0.string.like("*") }, { _ in true })
    same(realm, "string LIKE ''", [], { $0.string.like("") }, { $0.string == "" })
    same(realm, "stringO LIKE '*'", [], { $0.stringO.like("*") }, { $0.stringO != nil })
    same(realm, "stringO LIKE nil", [], { $0.stringO.like(nil) }, { $0.stringO == nil })
    same(realm, "string IN[c] {'ANN', 'BOB'}", [], nil, { ["Ann", "Bob"].contains($0.string) })
  }
}
