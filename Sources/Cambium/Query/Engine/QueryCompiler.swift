import CambiumCore

/// Turns a bound predicate into the conditions of one run.
struct QueryCompiler {
  private let context: QueryContext

  init(_ context: QueryContext) { self.context = context }

  /// The condition on the objects of a table.
  func compile(
    _ predicate: BoundPredicate, _ reader: TableReader
  ) throws(StoreError) -> QueryNode {
    switch predicate {
    case .always(let result): return ConstantNode(context, reader, result)
    case .and(let parts): return AndNode(context, reader, try compile(parts, reader))
    case .or(let parts): return OrNode(context, reader, try compile(parts, reader))
    case .not(let part): return NotNode(context, reader, try compile(part, reader))
    case .value(let column, let condition): return ValueNode(context, reader, column, condition)
    case .keys(let keys): return KeysNode(context, reader, keys)
    case .link(let link, let inner):
      let target = try context.reader(link.target)
      return LinkNode(
        context, reader, link, try compile(inner, target), matchesMissing: inner.matchesMissing)
    case .any(let collection, let inner):
      let elements = try compile(inner, try context.reader(collection.elementClass))
      switch collection {
      case .list(let column, _, _): return AnyOfListNode(context, reader, column, elements)
      case .backlinks(_, let column, let isList, _):
        return AnyBacklinkNode(context, reader, column, isList: isList, elements)
      }
    case .anyElement(let column, let condition):
      return AnyElementNode(context, reader, column, condition)
    case .number(let number, let condition):
      return NumberNode(context, reader, try NumberReader(context, reader, number), condition)
    case .pair(let pair):
      return PairNode(
        context, reader, try SourceReader(context, reader, pair.left),
        try SourceReader(context, reader, pair.right), pair.comparison)
    case .within(let place, let region): return PlaceNode(context, reader, place, region)
    case .named(let level, let inner):
      return NamedNode(context, reader, level: level, try compile(inner, reader))
    case .outer(let origin, let inner):
      let named = try compile(inner, try context.reader(origin.storedClass))
      return OuterNode(context, reader, level: origin.level, named)
    }
  }

  private func compile(
    _ parts: [BoundPredicate], _ reader: TableReader
  ) throws(StoreError) -> [QueryNode] {
    var nodes: [QueryNode] = []
    for part in parts { nodes.append(try compile(part, reader)) }
    return nodes
  }
}
