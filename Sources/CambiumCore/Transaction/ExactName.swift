/// A name as the catalog tells names apart: by its bytes.
///
/// `String` takes two spellings of one letter (é, and e with an accent) for equal.
struct ExactName: Hashable, Comparable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: ExactName, right: ExactName) -> Bool {
    left.text == right.text && left.text.utf8.elementsEqual(right.text.utf8)
  }

  static func < (left: ExactName, right: ExactName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  // Equal names are equal texts.
  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
