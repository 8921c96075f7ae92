@main enum Flights { static func main() {} }
