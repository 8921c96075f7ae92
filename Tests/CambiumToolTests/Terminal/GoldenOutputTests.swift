import Foundation
import TestSupport
import Testing

/// What commands show of a store that never changes on a terminal of 80 columns, word for word.
@Suite struct GoldenOutputTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.copyItem(
      atPath: "Tests/FormatTests/Golden/types-2.cambium", toPath: folder.file("types.cambium"))
  }

  private func output(_ arguments: String...) throws -> String {
    let process = try TerminalProcess(
      arguments, in: folder.path, try PseudoTerminal(columns: 80), environment: ["NO_COLOR": "1"])
    process.end()
    return process.text
  }

  @Test func `inspect shows trees and columns, and cuts what is too wide`() throws {
    let expected = #"""
      types.cambium
        store            file, format version 1, codec none
        identity         03e91f7573901ce9941d99c3bffd0fc4
        version          1 (durable 1, epoch 2)
        size             80.0 KiB
          reachable      35.9 KiB
          free           20.0 KiB
          pending        0 bytes

      Trees
        name                   role     rows  height  pages  bytes
        catalog                catalog    14       1      1   1216
        backlinks/GoldenInner  keyTree     4       1      1    128
        backlinks/GoldenPlace  keyTree   303       1      1   4928
        backlinks/GoldenTypes  keyTree     4       1      1    128
        class/GoldenInner      table       4       1      1    192
        class/GoldenPlace      table     303       1      1   1472
        class/GoldenTypes      table       2       1      6  23040
        index/GoldenPlace/2    keyTree   303       1      1   5696

      GoldenInner: 4 embedded objects, 192 bytes
        column    property  stored as  bytes  encodings (leaves)
        $created            int            0  constant 1
        depth     int       int            2  packed 1

      GoldenPlace: 303 embedded objects, 1.4 KiB
        column    property         stored as  bytes  encodings (leaves)
        $created                   int            0  constant 1
        name      string, indexed  bytes       1149  variable 1
        inner     GoldenInner      int?         114  packed 1

      GoldenTypes: 2 objects, 22.5 KiB
        column    property                        stored as  bytes  encodings (leaves)
        $created                                  int            0  constant 1
        id        int, primary key                int            1  packed 1
        place     GoldenPlace                     int?           1  packed 1
        places    array<GoldenPlace>              bytes         70  variable 1
        texts     set<string>                     bytes         97  variable 1
        doubles   set<double>                     bytes         93  variable 1
        numbers   dictionary<string, int>         bytes         93  variable 1
        others    dictionary<string, GoldenType…  bytes         20  variable 1
        value     mixed                           bytes?       186  variable 1
        values    array<mixed>                    bytes        215  variable 1
        valueSet  set<mixed>                      bytes        138  constant 1
        valueMap  dictionary<string, mixed>       bytes        193  constant 1

      """#
    #expect(try output("inspect", "types.cambium") == expected)
  }

  @Test func `inspect shows the pages of a class and where they lie`() throws {
    let expected = #"""
      Pages
        kind        pages  bytes  born in versions
        keyLeaf         5  12096            1 to 1
        columnLeaf      8  24704            1 to 1

        each character stands for 160 bytes, and shows how much of it is reached
        |                                                                |
        |                                      ▓█████████████████████████|
        |█████████████████████████████████████████████░     █████████████|
        |████████████████████████████████████████████████████████████████|
        |███▓                     ▒████████████████████████▒█████████████|
        |█████████████████████████████████████████░                      |
        |                                                                |
        |                                                                |

      """#
    #expect(
      try output("inspect", "types.cambium", "--class", "GoldenPlace", "--pages").hasSuffix(
        expected))
  }

  @Test func `schema shows classes that compile, whatever the terminal`() throws {
    let expected = #"""
      import Cambium
      import Foundation

      class GoldenInner: EmbeddedObject {
        @Persisted var depth: Int
      }

      class GoldenPlace: EmbeddedObject {
        @Persisted(indexed: true) var name: String
        @Persisted var inner: GoldenInner?
      }

      class GoldenTypes: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var place: GoldenPlace?
        @Persisted var places: List<GoldenPlace>
        @Persisted var texts: MutableSet<String>
        @Persisted var doubles: MutableSet<Double>
        @Persisted var numbers: Map<String, Int>
        @Persisted var others: Map<String, GoldenTypes?>
        @Persisted var value: AnyRealmValue
        @Persisted var values: List<AnyRealmValue>
        @Persisted var valueSet: MutableSet<AnyRealmValue>
        @Persisted var valueMap: Map<String, AnyRealmValue>
      }

      """#
    #expect(try output("schema", "types.cambium") == expected)
  }

  @Test func `query shows as many columns as there is room for`() throws {
    let all = #"""
      id  place     places    texts     doubles   numbers   others    value     value…
      --  --------  --------  --------  --------  --------  --------  --------  -----…
       1  {"name"…  [{"name…  ["text …  [0.0,0.…  {"key 0…  {"none"…  {"empty…  [null…
       2  {"name"…  [{"name…  ["text …  [0.0,0.…  {"key 0…  {"none"…  {"empty…  [null…
      2 objects

      """#
    #expect(try output("query", "types.cambium", "GoldenTypes") == all)
    let some = #"""
      id  place.name  numbers                          value
      --  ----------  -------------------------------  -------------------------------
       2  place 2     {"key 0":0,"key 1":1,"key 10":…  {"empty":{},"list":[2,"x",null…
       1  place 1     {"key 0":0,"key 1":1,"key 2":2}  {"empty":{},"list":[1,"x",null…
      2 objects

      """#
    #expect(
      try output(
        "query", "types.cambium", "GoldenTypes", "id > 0 SORT(id DESC)", "--columns",
        "id,place.name,numbers,value") == some)
  }

  @Test func `query points to what it does not understand`() throws {
    let expected = #"""
      cambium: Invalid keypath 'sze': Property 'sze' not found in object of type 'GoldenTypes'
        id > 0 AND sze = 3
                   ^

      """#
    #expect(
      try output("query", "types.cambium", "GoldenTypes", "id > 0 AND sze = 3") == expected)
  }
}
