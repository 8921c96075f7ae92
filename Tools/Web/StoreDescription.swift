import Cambium
import CambiumCore
import CambiumFile
import CambiumToolKit
import Foundation

/// What a store is: its version and sizes, who holds versions of it, and its classes.
struct StoreDescription {
  let json: JSONValue

  init(
    _ realm: Realm, _ database: Database, _ location: StoreLocation, isWritable: Bool
  ) throws {
    let statistics = try database.statistics()
    json = .object([
      .init("path", .string(location.path)), .init("kind", .string(database.identity.kind)),
      .init("codec", .string(database.identity.codec.isEmpty ? "none" : database.identity.codec)),
      .init("writable", .bool(isWritable)),
      .init("version", .integer(Int64(realm.version))),
      .init("durableVersion", .integer(Int64(statistics.durableVersion))),
      .init("total", .integer(Int64(statistics.totalByteCount))),
      .init("free", .integer(Int64(statistics.freeByteCount))),
      .init("pending", .integer(Int64(statistics.pendingByteCount))),
      .init("pins", .array(Self.pins(location))),
      .init("classes", .array(realm.schema.objectSchema.map { Self.type($0, realm, isWritable) })),
    ])
  }

  private static func pins(_ location: StoreLocation) -> [JSONValue] {
    guard location.isFile, let inspection = try? FileStore.inspect(path: location.path) else {
      return []
    }
    let (own, now) = (UInt32(getpid()), Date().timeIntervalSince1970)
    return inspection.pins.filter { $0.processNumber != own }.map { pin in
      .object([
        .init("process", .integer(Int64(pin.processNumber))), .init("label", .string(pin.label)),
        .init("version", .integer(Int64(pin.versions.lowerBound))),
        .init("newestVersion", .integer(Int64(pin.versions.upperBound))),
        .init("ageSeconds", .number(max(0, now - Double(pin.since) / 1e9))),
      ])
    }
  }

  private static func type(_ type: ObjectSchema, _ realm: Realm, _ isWritable: Bool) -> JSONValue {
    .object([
      .init("name", .string(type.className)),
      .init("count", .integer(Int64(realm.dynamicObjects(type.className).count))),
      .init("embedded", .bool(type.isEmbedded)),
      .init("primaryKey", type.primaryKeyProperty.map { .string($0.name) } ?? .null),
      .init("properties", .array(type.properties.map { property($0, realm.schema, isWritable) })),
    ])
  }

  private static func property(
    _ property: Property, _ schema: Schema, _ isWritable: Bool
  ) -> JSONValue {
    let kind =
      property.isComputed
      ? "computed"
      : property.isMap
        ? "map"
        : property.isSet
          ? "set"
          : property.isCollection
            ? "list" : property.type == .object ? "link" : property.type == .any ? "any" : "value"
    let isNumeric =
      !property.isCollection && [.int, .float, .double, .decimal128].contains(property.type)
    return .object([
      .init("name", .string(property.name)),
      .init("type", .string(SwiftModels.typeName(of: property))), .init("kind", .string(kind)),
      // Of a collection the elements may be null, and never the whole.
      .init(
        "optional",
        .bool(!property.isCollection && (property.isOptional || kind == "link" || kind == "any"))),
      .init("target", property.objectClassName.map { .string($0) } ?? .null),
      .init("embeds", .bool(property.objectClassName.flatMap { schema[$0] }?.isEmbedded ?? false)),
      .init("indexed", .bool(property.isIndexed)), .init("key", .bool(property.isPrimaryKey)),
      .init("numeric", .bool(isNumeric)),
      .init(
        "editable", .bool(isWritable && !property.isPrimaryKey && !property.isComputed)),
    ])
  }
}
