import Foundation

/// Where the columns of the flights file are, and how a row becomes a ``Flight``.
struct FlightColumns {
  private let year, month, day, number, distance, hourStart: Int
  private let departureTime, scheduledDepartureTime, departureDelay: Int
  private let arrivalTime, scheduledArrivalTime, arrivalDelay, airTime: Int
  private let carrier, tailNumber, origin, destination: Int

  init(_ table: CSVReader) {
    year = table.column("year")
    month = table.column("month")
    day = table.column("day")
    number = table.column("flight")
    distance = table.column("distance")
    hourStart = table.column("time_hour")
    departureTime = table.column("dep_time")
    scheduledDepartureTime = table.column("sched_dep_time")
    departureDelay = table.column("dep_delay")
    arrivalTime = table.column("arr_time")
    scheduledArrivalTime = table.column("sched_arr_time")
    arrivalDelay = table.column("arr_delay")
    airTime = table.column("air_time")
    carrier = table.column("carrier")
    tailNumber = table.column("tailnum")
    origin = table.column("origin")
    destination = table.column("dest")
  }

  /// The current row as an object that no database knows yet.
  func flight(
    _ table: CSVReader, _ airlines: [String: Airline], _ airports: [String: Airport],
    _ planes: [String: Plane]
  ) -> Flight {
    let flight = Flight()
    flight.year = table.integer(year) ?? 0
    flight.month = table.integer(month) ?? 0
    flight.day = table.integer(day) ?? 0
    flight.departureTime = table.integer(departureTime)
    flight.scheduledDepartureTime = table.integer(scheduledDepartureTime) ?? 0
    flight.departureDelay = table.integer(departureDelay)
    flight.arrivalTime = table.integer(arrivalTime)
    flight.scheduledArrivalTime = table.integer(scheduledArrivalTime) ?? 0
    flight.arrivalDelay = table.integer(arrivalDelay)
    flight.number = table.integer(number) ?? 0
    flight.airTime = table.integer(airTime)
    flight.distance = table.integer(distance) ?? 0
    flight.hourStart = table.date(hourStart) ?? Date(timeIntervalSince1970: 0)
    let tail = table.text(tailNumber)
    let code = table.text(destination) ?? ""
    flight.tailNumber = tail
    flight.destinationCode = code
    flight.airline = table.text(carrier).flatMap { airlines[$0] }
    flight.origin = table.text(origin).flatMap { airports[$0] }
    flight.destination = airports[code]
    flight.plane = tail.flatMap { planes[$0] }
    return flight
  }
}
