import Cambium
import Foundation

/// A line of the file: what a sensor has measured.
final class Measurement: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted(indexed: true) var sensor: String
  @Persisted var time: Date
  @Persisted var value: Double
}
