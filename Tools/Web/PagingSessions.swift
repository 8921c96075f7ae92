import Cambium
import CambiumCore
import CambiumToolKit
import Foundation
import Synchronization

/// What a table is paged through: the objects that a query found in one version.
///
/// A session ends some time after it began, and the oldest one when there are too many; its version is let go of
/// then.
final class PagingSessions: Sendable {
  private let sessions = Mutex<[PagingSession]>([])

  private static let limit = 16
  /// How many seconds a session has.
  private let lifetime: Int

  init(lifetime: Int) { self.lifetime = lifetime }

  /// The session that the request goes on with, or a new one on the newest version.
  func session(
    for request: RowsRequest, _ timeLimit: Duration,
    _ snapshot: (Interruption) throws -> Realm
  ) throws -> PagingSession {
    let known = sessions.withLock { sessions in
      sessions.removeAll { session in
        session.isOver || session.id == request.ended
          || (session.id == request.session && session.query != request.query)
      }
      return sessions.first { $0.id == request.session && $0.query == request.query }
    }
    if let known { return known }
    let session = try PagingSession(
      request.query, until: .now + .seconds(lifetime), timeLimit, snapshot)
    sessions.withLock { sessions in
      if sessions.count == Self.limit { sessions.removeFirst() }
      sessions.append(session)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(lifetime)) {
      [weak self, id = session.id] in
      self?.remove(id)
    }
    return session
  }

  func removeAll() { sessions.withLock { $0 = [] } }

  func remove(_ id: String) { sessions.withLock { $0.removeAll { $0.id == id } } }
}

/// The objects that one query found in one version.
///
/// Unchecked: the Realm and the results are frozen.
final class PagingSession: @unchecked Sendable {
  let id: String
  let query: RowsRequest.Query
  private let end: ContinuousClock.Instant
  private let realm: Realm
  private let results: Results<DynamicObject>
  private let columns: [(index: Int, property: Property)]
  private let limit: Int?
  private let cells: CellEncoder
  private let interruption: Interruption
  /// When the request that reads has to be done; one reads at a time.
  private let deadline: Deadline
  private let turn = Mutex(())

  init(
    _ query: RowsRequest.Query, until end: ContinuousClock.Instant, _ timeLimit: Duration,
    _ snapshot: (Interruption) throws -> Realm
  ) throws {
    id = String(UInt64.random(in: 1 ... .max), radix: 16)
    self.query = query
    self.end = end
    let deadline = Deadline()
    deadline.set(timeLimit)
    interruption = Interruption(when: { deadline.isOver })
    self.deadline = deadline
    realm = try snapshot(interruption)
    var text = try TextQuery(query.text)
    if let path = query.sort { text = text.sorted(by: path, isAscending: !query.isDescending) }
    results = try text.results(in: realm, ofType: query.className)
    limit = text.limit
    columns = (realm.schema[query.className]?.allProperties ?? []).enumerated()
      .map { ($0.offset, $0.element) }.filter { !$0.property.isComputed }
    cells = CellEncoder(realm, textLimit: CellEncoder.rowTextLimit)
  }

  /// Whether it is used no more: after its time, and when an evaluation gave up, as all later ones would.
  var isOver: Bool { end <= .now || interruption.reason != nil }

  /// The rows at `bounds`, as far as there are so many.
  func rows(_ bounds: Range<Int>, _ timeLimit: Duration) throws -> JSONValue {
    try turn.withLock { _ in
      deadline.set(timeLimit)
      let start = ContinuousClock.now
      let found = results.count
      let total = min(found, limit ?? found)
      let bounds = bounds.clamped(to: 0..<total)
      // The first rows are found without the others.
      let slice = bounds.lowerBound == 0 ? results.prefix(bounds.upperBound) : results[bounds]
      var rows: [JSONValue] = []
      for object in slice {
        if (try? interruption.check()) == nil { break }
        rows.append(
          .object([
            .init("row", .string("\(object.rowKey)")),
            .init(
              "cells", .array(columns.map { cells.cell(of: object, $0.index, $0.property) })),
          ]))
      }
      if interruption.reason != nil { throw RealmDatabase.TimeoutError(timeout: timeLimit) }
      let time = (ContinuousClock.now - start) / .milliseconds(1)
      return .object([
        .init("session", .string(id)), .init("version", .integer(Int64(realm.version))),
        .init("total", .integer(Int64(total))),
        .init("from", .integer(Int64(bounds.lowerBound))),
        .init("milliseconds", .number((time * 100).rounded() / 100)),
        .init("columns", .array(columns.map { .string($0.property.name) })),
        .init("rows", .array(rows)),
      ])
    }
  }
}

/// A time that is set anew for each request.
private final class Deadline: Sendable {
  private let end = Mutex(ContinuousClock.now)

  var isOver: Bool { end.withLock { $0 } <= .now }

  func set(_ timeLimit: Duration) { end.withLock { $0 = .now + timeLimit } }
}
