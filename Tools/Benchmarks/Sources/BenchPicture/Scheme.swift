/// What a mark means; the scheme decides on its colour.
package enum Ink {
  case page, text, faint, grid
  /// Cambium, and work that only asks.
  case subject
  /// Work that changes something.
  case change
  case lmdb, rocksDB, sqlite
}

/// The page that a picture is made for.
///
/// The colours are told apart by people who see red and green alike, and stand out from the page by 3 : 1 or more;
/// who is who can also be seen by the shape of marks, the dashes of lines and the place of bars.
package enum Scheme: String, CaseIterable, Sendable {
  case light, dark

  func color(_ ink: Ink) -> String {
    switch (ink, self) {
    case (.page, .light): "#ffffff"
    case (.page, .dark): "#0d1117"
    case (.text, .light): "#1f2328"
    case (.text, .dark): "#e6edf3"
    case (.faint, .light): "#59636e"
    case (.faint, .dark): "#9198a1"
    case (.grid, .light): "#d8dee4"
    case (.grid, .dark): "#2d333b"
    case (.subject, .light): "#0072b2"
    case (.subject, .dark): "#56b4e9"
    case (.change, .light): "#b35900"
    case (.change, .dark): "#e69f00"
    case (.lmdb, .light): "#b35900"
    case (.lmdb, .dark): "#e69f00"
    case (.rocksDB, .light): "#8a4f9e"
    case (.rocksDB, .dark): "#d9a3e3"
    case (.sqlite, .light): "#00795c"
    case (.sqlite, .dark): "#2fc49a"
    }
  }
}
