extension Query where T: OptionalProtocol, T.Wrapped: EmbeddedObject {
  /// Whether the place that the object says lies in a region, or on its edge.
  ///
  /// The object has a text `type` that says `Point`, and a list of numbers `coordinates` with the longitude
  /// and the latitude in degrees. What is null or no place does not match.
  public func geoWithin<Region: RLMGeospatial>(_ region: Region) -> Query<Bool> {
    comparing(.in, region)
  }
}
