/// One value that a `.realm` file holds.
///
/// An unresolved link is ``null`` where a value has a place of its own, and is left out of lists and
/// sets of links. `==` compares floating point numbers as numbers do, so that NaN equals nothing.
public enum RealmFileValue: Hashable, Sendable {
  /// No value.
  case null
  /// An integer.
  case int(Int64)
  /// A truth value.
  case bool(Bool)
  /// A number of 32 bits, with the bits that its writer gave it.
  case float(Float)
  /// A number of 64 bits, with the bits that its writer gave it.
  case double(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data([UInt8])
  /// Seconds since 1970-01-01 UTC, and nanoseconds to add, which have the same sign or are 0.
  case date(seconds: Int64, nanoseconds: Int32)
  /// The two words of an IEEE 754-2008 decimal128 in its binary (BID) encoding.
  ///
  /// Shorter forms are widened; the exponent stays, so that 1.50 is 150 · 10⁻².
  case decimal(low: UInt64, high: UInt64)
  /// The 12 bytes of an object id, in the order of its text.
  case objectId([UInt8])
  /// The 16 bytes of a UUID, in the order of its text.
  case uuid([UInt8])
  /// An object: an index into ``RealmFile/classes``, and the object's key.
  case link(class: Int, key: Int64)
  /// The elements of a list or a set; an unused one is empty.
  case list([RealmFileValue])
  /// The entries of a dictionary in stored order; an unused one is empty.
  case dictionary([Entry])

  /// A key of a dictionary, with its value.
  public struct Entry: Hashable, Sendable {
    /// A string or, in classes that no Swift program made, an integer.
    public var key: RealmFileValue
    /// What the key leads to.
    public var value: RealmFileValue

    /// Pairs a key with its value.
    public init(key: RealmFileValue, value: RealmFileValue) {
      self.key = key
      self.value = value
    }
  }
}
