import Cambium

/// Classes as a Mermaid class diagram: their properties, and arrows for links.
package enum ClassDiagram {
  /// The text of the diagram.
  package static func mermaid(of schema: Schema) -> String {
    var text = "classDiagram\n"
    for type in schema.objectSchema {
      text += "  class \(name(type.className)) {\n"
      if type.isEmbedded { text += "    <<embedded>>\n" }
      for property in type.properties where property.type != .object {
        // Braces and brackets have a meaning in diagrams.
        let typeName = SwiftModels.typeName(of: property)
          .replacing("<", with: "~").replacing(">", with: "~").replacing(", ", with: "·")
        let mark = property.isPrimaryKey ? " (key)" : property.isIndexed ? " (indexed)" : ""
        text += "    \(typeName) \(SwiftModels.quotable(property.name))\(mark)\n"
      }
      text += "  }\n"
    }
    for type in schema.objectSchema {
      for property in type.properties where property.type == .object {
        guard let target = property.objectClassName else { continue }
        let isOwned = schema[target]?.isEmbedded == true
        let count = property.isCollection ? " \"*\" " : " \"0..1\" "
        text +=
          "  \(name(type.className)) \(isOwned ? "*--" : "-->")\(count)\(name(target)) : "
          + "\(SwiftModels.quotable(property.name))\n"
      }
    }
    return text
  }

  private static func name(_ className: String) -> String {
    className.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
      ? className : "`\(SwiftModels.quotable(className))`"
  }
}
