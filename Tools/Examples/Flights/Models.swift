import Cambium
import Foundation

/// A carrier.
class Airline: Object {
  @Persisted(primaryKey: true) var carrier: String
  @Persisted var name: String
  @Persisted(originProperty: "airline") var flights: LinkingObjects<Flight>
}

/// A place to take off from and to land at.
class Airport: Object {
  @Persisted(primaryKey: true) var faa: String
  @Persisted var name: String
  @Persisted var latitude: Double
  @Persisted var longitude: Double
  @Persisted var altitude: Int
  @Persisted var timeZoneOffset: Int
  @Persisted var daylightSaving: String
  @Persisted var timeZone: String?
  @Persisted(originProperty: "origin") var departures: LinkingObjects<Flight>
  @Persisted(originProperty: "destination") var arrivals: LinkingObjects<Flight>
}

/// An aircraft.
class Plane: Object {
  @Persisted(primaryKey: true) var tailNumber: String
  @Persisted var year: Int?
  @Persisted var type: String
  @Persisted var manufacturer: String
  @Persisted var model: String
  @Persisted var engines: Int
  @Persisted var seats: Int
  @Persisted var speed: Int?
  @Persisted var engine: String
  @Persisted(originProperty: "plane") var flights: LinkingObjects<Flight>
}

/// One hour of weather at one of the three airports of origin.
class Weather: Object {
  @Persisted var origin: Airport?
  @Persisted var hourStart: Date
  @Persisted var temperature: Double?
  @Persisted var dewPoint: Double?
  @Persisted var humidity: Double?
  @Persisted var windDirection: Int?
  @Persisted var windSpeed: Double?
  @Persisted var windGust: Double?
  @Persisted var precipitation: Double
  @Persisted var pressure: Double?
  @Persisted var visibility: Double
}

/// One flight; times are local, as hours times 100 plus minutes.
class Flight: Object {
  @Persisted var year: Int
  @Persisted var month: Int
  @Persisted var day: Int
  @Persisted var departureTime: Int?
  @Persisted var scheduledDepartureTime: Int
  @Persisted var departureDelay: Int?
  @Persisted var arrivalTime: Int?
  @Persisted var scheduledArrivalTime: Int
  @Persisted var arrivalDelay: Int?
  @Persisted var number: Int
  @Persisted var tailNumber: String?
  @Persisted var destinationCode: String
  @Persisted var airTime: Int?
  @Persisted var distance: Int
  @Persisted var hourStart: Date
  @Persisted var airline: Airline?
  @Persisted var origin: Airport?
  @Persisted var destination: Airport?
  @Persisted var plane: Plane?
}
