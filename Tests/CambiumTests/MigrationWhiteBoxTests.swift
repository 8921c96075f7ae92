import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Cambium

private enum Before {
  final class Guest: MigratedObject {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
  }
}

private enum After {
  final class Guest: MigratedObject {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
    @Persisted var length = 0
  }
}

/// What a migration leaves behind in the transaction that goes on without its Realms.
@Suite struct MigrationWhiteBoxTests {
  /// What the block saw, until the test looks at it.
  ///
  /// Unchecked: block and test run on one thread.
  private final class Kept: @unchecked Sendable {
    var table: TableEditor?
    var wasTold = false
  }

  @Test(arguments: [false, true])
  func `its trees no longer tell accessors of rows that move`(isRefused: Bool) throws {
    let file = try SpecFile()
    try autoreleasepool {
      let realm = try Realm(configuration: specFile(file.folder, [Before.Guest.self]))
      try realm.write {
        for id in 0..<2_000 { realm.create(Before.Guest.self, value: ["id": id, "name": "n"]) }
      }
    }
    let kept = Kept()
    var configuration = specFile(file.folder, [After.Guest.self])
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Guest") { old, new in
        new?["length"] = (old?["name"] as? String)?.count
        if isRefused { new?["id"] = 1 }
      }
      let access = migration.new.access(named: "Guest")
      kept.table = access.flatMap { migration.session.editor(ifOpen: $0)?.table }
      kept.wasTold = kept.table?.rowGeneration != nil
    }
    if isRefused {
      #expect(throws: (any Error).self) { try Realm(configuration: configuration) }
    } else {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(After.Guest.self).sum(of: \.length) == 2_000)
    }
    #expect(kept.wasTold)
    #expect(kept.table != nil)
    #expect(kept.table?.rowGeneration == nil)
  }
}
