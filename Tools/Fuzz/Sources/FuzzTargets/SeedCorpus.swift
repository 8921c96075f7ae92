import CambiumCore

/// Inputs to begin with, which no search would find in reasonable time.
public enum SeedCorpus {
  /// The pages of small files, as inputs of the targets that read pages.
  public static func pages() -> [(target: FuzzTarget, bytes: [UInt8])] {
    var seeds: [(target: FuzzTarget, bytes: [UInt8])] = []
    for rowCount in [2, 7, 20, 400] as [Int64] {
      let image = SealedImage((try? DamagedFile.makeFile(rowCount: rowCount)) ?? [])
      for page in image.pages {
        guard let first = page.first, let target = target(of: first) else { continue }
        // Branches need many rows below them; leaves are wanted small.
        let isBranch = target == .keyBranch || target == .columnBranch
        if isBranch ? page.count <= 8192 : rowCount <= 20 && page.count <= 4096 {
          seeds.append((target, page))
        }
      }
    }
    return seeds
  }

  private static func target(of kind: UInt8) -> FuzzTarget? {
    switch PageKind(rawValue: kind) {
    case .keyLeaf: .keyLeaf
    case .keyBranch: .keyBranch
    case .columnLeaf: .columnLeaf
    case .columnBranch: .columnBranch
    case .overflow, nil: nil
    }
  }
}
