#if !canImport(Darwin)
  import Foundation

  /// What Apple's frameworks for views add: the place of an element of sections, as
  /// ``SectionedResults`` tell it.
  extension IndexPath {
    /// The place `item` in section `section`.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// The place `row` in section `section`.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// Which section: the first number, which there has to be.
    public var section: Int {
      get { self[0] }
      set { self[0] = newValue }
    }

    /// The place in its section: the second number, which there has to be.
    public var item: Int {
      get { self[1] }
      set { self[1] = newValue }
    }

    /// The same as ``item``.
    public var row: Int {
      get { item }
      set { item = newValue }
    }
  }
#endif
