import Cambium
import Foundation
import Testing

/// Section B22: models, lists and results are coded as their coder says.
@Suite struct B22CodingTests {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()
  private let day = Date(timeIntervalSince1970: 86_400)
  private let text = #"""
    {"data":"2 bytes","dataO":"0 bytes","datas":["1 bytes"],"datasO":["1 bytes",null],\#
    "date":"1970-01-02T00:00:00Z","dateO":"1970-01-02T00:00:00Z",\#
    "dates":["1970-01-02T00:00:00Z"],"datesO":[null,"1970-01-02T00:00:00Z"]}
    """#

  init() {
    encoder.outputFormatting = .sortedKeys
    encoder.dateEncodingStrategy = .iso8601
    encoder.dataEncodingStrategy = .custom { data, encoder in
      var container = encoder.singleValueContainer()
      try container.encode("\(data.count) bytes")
    }
    decoder.dateDecodingStrategy = .iso8601
    decoder.dataDecodingStrategy = .custom { decoder in
      let text = try decoder.singleValueContainer().decode(String.self)
      return Data(repeating: 7, count: Int(text.prefix { $0 != " " }) ?? -1)
    }
  }

  private func encoded(_ value: some Encodable) throws -> String {
    String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test func `dates and data are encoded by the coder's strategies`() throws {
    let object = SpecCodedValues()
    object.date = day
    object.dateO = day
    object.data = Data([1, 2])
    object.dataO = Data()
    object.dates.append(day)
    object.datesO.append(objectsIn: [nil, day])
    object.datas.append(Data([1]))
    object.datasO.append(objectsIn: [Data([1]), nil])
    #expect(try encoded(object) == text)
  }

  @Test func `dates and data are decoded by the coder's strategies`() throws {
    let object = try decoder.decode(SpecCodedValues.self, from: Data(text.utf8))
    #expect(object.date == day && object.dateO == day)
    #expect(object.data == Data([7, 7]) && object.dataO == Data())
    #expect(Array(object.dates) == [day] && Array(object.datesO) == [nil, day])
    #expect(Array(object.datas) == [Data([7])] && Array(object.datasO) == [Data([7]), nil])
    #expect(try encoded(object) == text)
    let absent = try decoder.decode(
      SpecCodedValues.self,
      from: Data(
        #"""
        {"data":"2 bytes","dataO":null,"datas":[],"datasO":[],"date":"1970-01-02T00:00:00Z",
        "dates":[],"datesO":[]}
        """#.utf8))
    #expect(absent.dateO == nil && absent.dataO == nil && absent.data.count == 2)
  }

  @Test func `managed lists and results are encoded by the coder's strategies`() throws {
    let realm = try specRealm([SpecCodedValues.self])
    let object = try realm.write {
      realm.create(
        SpecCodedValues.self,
        value: ["dates": [day], "datesO": [nil, day] as [Any?], "datas": [Data([1])]])
    }
    #expect(try encoded(object.dates) == #"["1970-01-02T00:00:00Z"]"#)
    #expect(try encoded(object.datesO) == #"[null,"1970-01-02T00:00:00Z"]"#)
    #expect(try encoded(object.datas) == #"["1 bytes"]"#)
    #expect(try encoded(object.dates.sorted()) == #"["1970-01-02T00:00:00Z"]"#)
  }

  @Test(arguments: ["v1.0", "$usd", "."])
  func `a map with a key that there cannot be is not decoded`(key: String) throws {
    let text = #"{"fine": 1, "\#(key)": 2}"#
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Map<String, Double>.self, from: Data(text.utf8))
    }
    let map = try JSONDecoder().decode(Map<String, Double>.self, from: Data(#"{"v1-0$": 2}"#.utf8))
    #expect(map["v1-0$"] == 2 && map.count == 1)
  }
}

final class SpecCodedValues: Object, Codable {
  @Persisted var date: Date
  @Persisted var dateO: Date?
  @Persisted var data: Data
  @Persisted var dataO: Data?
  @Persisted var dates: List<Date>
  @Persisted var datesO: List<Date?>
  @Persisted var datas: List<Data>
  @Persisted var datasO: List<Data?>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
