/// What can be fed with arbitrary bytes: nothing it does with them may stop the process.
///
/// Errors are fine, wrong answers of round trips are not. Each input is also one of the corpus that
/// the tests replay.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// A file whose bytes were changed, checksums corrected or not.
  case file
  /// A file whose log of small commits was changed, its checksums put right.
  case log
  /// A leaf of a tree of keys.
  case keyLeaf
  /// A branch of a tree of keys.
  case keyBranch
  /// A leaf of a tree of rows.
  case columnLeaf
  /// A branch of a tree of rows.
  case columnBranch
  /// The pages of large values.
  case overflow
  /// Keys and values on their way through a tree.
  case keyCodec
  /// Rows of every column type on their way through a tree.
  case columnCodec
  /// Entries of the catalog.
  case catalog
  /// What the object layer stores in cells, keys and attributes.
  case objects
  /// The text form of predicates.
  case predicate
  /// Compressed pages.
  case zstdBody
  /// Encrypted pages and records.
  case aesBody
  /// Pages through both, and what a store keeps for them.
  case codecChain
  /// Files of Realm.
  case realmFile

  /// Does with `bytes` whatever this target is about.
  ///
  /// One call at a time: the targets share a store.
  public func run(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .file: DamagedFile.run(bytes)
    case .log: LoggedFile.run(bytes)
    case .keyLeaf: KeyPages.runLeaf(bytes)
    case .keyBranch: KeyPages.runBranch(bytes)
    case .columnLeaf: ColumnPages.runLeaf(bytes)
    case .columnBranch: ColumnPages.runBranch(bytes)
    case .overflow: OverflowPages.run(bytes)
    case .keyCodec: KeyCodec.run(bytes)
    case .columnCodec: ColumnCodec.run(bytes)
    case .catalog: CatalogCodec.run(bytes)
    case .objects: ObjectCodecs.run(bytes)
    case .predicate: PredicateTexts.run(bytes)
    case .zstdBody: ZstdBodies.run(bytes)
    case .aesBody: AESBodies.run(bytes)
    case .codecChain: ChainBodies.run(bytes)
    case .realmFile: RealmFiles.run(bytes)
    }
  }
}
