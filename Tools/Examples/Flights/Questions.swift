import Cambium
import Foundation

/// What the example asks the imported data.
struct Questions {
  let realm: Realm
  let stopwatch: Stopwatch

  func ask() {
    let flights = realm.objects(Flight.self)
    answer("flights") { flights.count }
    answer("airports") { realm.objects(Airport.self).count }
    answer("planes") { realm.objects(Plane.self).count }
    answer("airlines") { realm.objects(Airline.self).count }
    answer("delayed over an hour") { flights.where { $0.departureDelay > 60 }.count }
    answer("never departed") { flights.where { $0.departureTime == nil }.count }
    answer("JFK to LAX") {
      flights.where { $0.origin.faa == "JFK" && $0.destination.faa == "LAX" }.count
    }
    answer("on a BOEING") { flights.filter("plane.manufacturer == %@", "BOEING").count }
    answer("without a plane record") { flights.where { $0.plane == nil }.count }
    answer("mean arrival delay") {
      let mean: Double? = flights.average(ofProperty: "arrivalDelay")
      return String(format: "%.6f", mean ?? .nan)
    }
    answer("total distance") { flights.sum(of: \.distance) }
    answer("longest delay") {
      let worst = flights.sorted(byKeyPath: "departureDelay", ascending: false).first
      guard let worst else { return "none" }
      return "\(worst.airline?.carrier ?? "?") \(worst.number) \(worst.tailNumber ?? "?") "
        + "\(worst.departureDelay ?? 0)"
    }
  }

  private func answer<Answer>(_ question: String, _ compute: () -> Answer) {
    let answer = stopwatch.time(question, compute)
    print("\(question): \(answer)")
  }
}
