import Cambium
import Foundation

/// Turns the files into linked objects.
struct Importer {
  let realm: Realm
  let folder: DataFolder
  let progress: Progress

  private final class Lookup {
    var airlines: [String: Airline] = [:]
    var airports: [String: Airport] = [:]
    var planes: [String: Plane] = [:]
  }

  /// Imports all five files in one transaction.
  func run() throws {
    let lookup = Lookup()
    try realm.write {
      try importAirlines(lookup)
      try importAirports(lookup)
      try importPlanes(lookup)
      try importWeather(lookup)
      try importFlights(lookup)
    }
  }

  private func importAirlines(_ lookup: Lookup) throws {
    var table = try folder.table("airlines")
    let (carrier, name) = (table.column("carrier"), table.column("name"))
    while table.next() {
      let airline = Airline()
      airline.carrier = table.text(carrier) ?? ""
      airline.name = table.text(name) ?? ""
      realm.add(airline)
      lookup.airlines[airline.carrier] = airline
    }
  }

  private func importAirports(_ lookup: Lookup) throws {
    var table = try folder.table("airports")
    let (faa, name) = (table.column("faa"), table.column("name"))
    let (latitude, longitude, altitude) = (
      table.column("lat"), table.column("lon"), table.column("alt")
    )
    let (offset, saving, zone) = (table.column("tz"), table.column("dst"), table.column("tzone"))
    while table.next() {
      let airport = Airport()
      airport.faa = table.text(faa) ?? ""
      airport.name = table.text(name) ?? ""
      airport.latitude = table.double(latitude) ?? 0
      airport.longitude = table.double(longitude) ?? 0
      airport.altitude = table.integer(altitude) ?? 0
      airport.timeZoneOffset = table.integer(offset) ?? 0
      airport.daylightSaving = table.text(saving) ?? ""
      airport.timeZone = table.text(zone)
      realm.add(airport)
      lookup.airports[airport.faa] = airport
    }
  }

  private func importPlanes(_ lookup: Lookup) throws {
    var table = try folder.table("planes")
    let (tail, year, type) = (table.column("tailnum"), table.column("year"), table.column("type"))
    let (maker, model) = (table.column("manufacturer"), table.column("model"))
    let (engines, seats) = (table.column("engines"), table.column("seats"))
    let (speed, engine) = (table.column("speed"), table.column("engine"))
    while table.next() {
      let plane = Plane()
      plane.tailNumber = table.text(tail) ?? ""
      plane.year = table.integer(year)
      plane.type = table.text(type) ?? ""
      plane.manufacturer = table.text(maker) ?? ""
      plane.model = table.text(model) ?? ""
      plane.engines = table.integer(engines) ?? 0
      plane.seats = table.integer(seats) ?? 0
      plane.speed = table.integer(speed)
      plane.engine = table.text(engine) ?? ""
      realm.add(plane)
      lookup.planes[plane.tailNumber] = plane
    }
  }

  private func importWeather(_ lookup: Lookup) throws {
    var table = try folder.table("weather")
    let (origin, hour) = (table.column("origin"), table.column("time_hour"))
    let (temperature, dew) = (table.column("temp"), table.column("dewp"))
    let (humidity, direction) = (table.column("humid"), table.column("wind_dir"))
    let (speed, gust) = (table.column("wind_speed"), table.column("wind_gust"))
    let (precipitation, pressure) = (table.column("precip"), table.column("pressure"))
    let visibility = table.column("visib")
    while table.next() {
      let weather = Weather()
      weather.origin = table.text(origin).flatMap { lookup.airports[$0] }
      weather.hourStart = table.date(hour) ?? Date(timeIntervalSince1970: 0)
      weather.temperature = table.double(temperature)
      weather.dewPoint = table.double(dew)
      weather.humidity = table.double(humidity)
      weather.windDirection = table.integer(direction)
      weather.windSpeed = table.double(speed)
      weather.windGust = table.double(gust)
      weather.precipitation = table.double(precipitation) ?? 0
      weather.pressure = table.double(pressure)
      weather.visibility = table.double(visibility) ?? 0
      realm.add(weather)
    }
  }

  private func importFlights(_ lookup: Lookup) throws {
    var table = try folder.table("flights")
    let columns = FlightColumns(table)
    var count = 0
    while table.next() {
      realm.add(columns.flight(table, lookup.airlines, lookup.airports, lookup.planes))
      count += 1
      if count % 4_096 == 0 { progress.show("importing flights", table.progress) }
    }
    progress.finish()
  }
}
