/// A person as the bytes of one record, for engines that store key and value.
///
///      0        8     9        10            11             12
///     | score  | age | active | name length | email length | name, email
///
/// Nothing in it needs decoding beyond a load; this is the best case of a hand-written record.
enum PackedPerson {
  private static let score = 0
  private static let age = 8
  private static let active = 9
  private static let nameByteCount = 10
  private static let emailByteCount = 11
  private static let heap = 12

  /// How many bytes `write` needs.
  static func byteCount(of person: Person) -> Int {
    heap + person.name.count + person.email.count
  }

  /// Packs `person` to `target`.
  static func write(_ person: Person, to target: UnsafeMutableRawPointer) {
    target.storeBytes(of: person.score, toByteOffset: score, as: Double.self)
    target.storeBytes(of: UInt8(person.age), toByteOffset: age, as: UInt8.self)
    target.storeBytes(of: person.active ? 1 : 0, toByteOffset: active, as: UInt8.self)
    target.storeBytes(of: UInt8(person.name.count), toByteOffset: nameByteCount, as: UInt8.self)
    target.storeBytes(of: UInt8(person.email.count), toByteOffset: emailByteCount, as: UInt8.self)
    UnsafeMutableRawBufferPointer(start: target + heap, count: person.name.count)
      .copyMemory(from: person.name)
    UnsafeMutableRawBufferPointer(
      start: target + heap + person.name.count, count: person.email.count
    ).copyMemory(from: person.email)
  }

  /// The age in a record.
  @inline(__always)
  static func age(in record: UnsafeRawPointer) -> Int64 {
    Int64(record.load(fromByteOffset: age, as: UInt8.self))
  }

  /// The score in a record.
  @inline(__always)
  static func score(in record: UnsafeRawPointer) -> Double {
    record.loadUnaligned(fromByteOffset: score, as: Double.self)
  }

  /// The name in a record.
  @inline(__always)
  static func name(in record: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: record + heap,
      count: Int(record.load(fromByteOffset: nameByteCount, as: UInt8.self)))
  }

  /// Changes the age in a record.
  static func setAge(_ value: Int64, in record: UnsafeMutableRawPointer) {
    record.storeBytes(of: UInt8(value), toByteOffset: age, as: UInt8.self)
  }
}
