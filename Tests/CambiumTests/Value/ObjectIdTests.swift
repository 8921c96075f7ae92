import Foundation
import Testing

@testable import Cambium

struct ObjectIdTests {
  @Test func `text is read and printed`() throws {
    let text = "0123456789abcdef00ff10a5"
    let id = try ObjectId(string: text)
    #expect(id.stringValue == text && id.description == text)
    #expect(try ObjectId(string: text.uppercased()) == id)
    #expect(id.bytes == [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0x00, 0xFF, 0x10, 0xA5])
    #expect(id.bytes.withUnsafeBytes { ObjectId(bytes: $0) } == id)
    #expect(ObjectId(low: id.wide.low, high: id.wide.high) == id)
    #expect(ObjectId("0123456789abcdef00ff10a5") == id)
    #expect(ObjectId().stringValue == String(repeating: "0", count: 24))
  }

  @Test(arguments: ["", "0123", "0123456789abcdef00ff10ag", "0123456789abcdef00ff10a50"])
  func `other text is an error that says what is right`(text: String) {
    let error = #expect(throws: Realm.Error.self) { try ObjectId(string: text) }
    #expect(error?.code == .invalidInput)
    #expect(
      error?.localizedDescription == "Invalid Object ID string '\(text)': must be 24 hex digits")
  }

  @Test func `new identifiers differ and rise within a second`() {
    // The clock may be set meanwhile.
    let before = Date() - 3600
    let ids = (0..<1000).map { _ in ObjectId.generate() }
    #expect(Set(ids).count == 1000)
    #expect(ids.allSatisfy { $0.timestamp > before && $0.timestamp < Date() + 3600 })
    #expect(Set(ids.map { $0.bytes[4..<9] }).count == 1)
  }

  @Test func `an identifier is built from its parts`() {
    let time = Date(timeIntervalSince1970: 0x0102_0304)
    let id = ObjectId(timestamp: time, machineId: 0xAABBCC, processId: 0xDDEE)
    #expect(id.bytes[..<9] == [1, 2, 3, 4, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE])
    #expect(id.timestamp == time)
  }

  @Test func `order is the order of the bytes`() throws {
    let texts = [
      "000000000000000000000000", "000000000000000000000001", "0000000000000000ffffffff",
      "000000000000000100000000", "ffffffffffffffff00000000",
    ]
    let ids = try texts.map { try ObjectId(string: $0) }
    #expect(ids.shuffled().sorted() == ids)
    #expect(zip(ids, ids.dropFirst()).allSatisfy { $0.wide.high <= $1.wide.high })
  }

  @Test func `coding goes through text`() throws {
    let ids = [ObjectId.generate(), ObjectId()]
    let data = try JSONEncoder().encode(ids)
    #expect(try JSONDecoder().decode([String].self, from: data) == ids.map(\.stringValue))
    #expect(try JSONDecoder().decode([ObjectId].self, from: data) == ids)
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode([ObjectId].self, from: Data(#"["x"]"#.utf8))
    }
  }

  @Test func `a bad literal stops`() async {
    await #expect(processExitsWith: .failure) { _ = ObjectId("not an identifier") }
  }
}
