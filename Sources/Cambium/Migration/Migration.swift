import CambiumCore

/// Carries data over when the form of classes changes.
///
/// Called once per file, when a program with a higher ``Realm/Configuration/schemaVersion`` opens it.
/// The new classes and properties are there already, new required properties with zero or empty.
public typealias MigrationBlock =
  @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) -> Void

/// Gets an object as it was, and as it is becoming; one of them is nil when its class exists on one
/// side only.
public typealias MigrationObjectEnumerateBlock = (
  _ oldObject: MigrationObject?, _ newObject: MigrationObject?
) -> Void

/// A running migration: the file as it was, and as it is becoming.
///
/// ```swift
/// configuration.schemaVersion = 2
/// configuration.migrationBlock = { migration, oldVersion in
///   migration.enumerateObjects(ofType: "Person") { old, new in
///     new?["fullName"] = "\(old?["first"] ?? "") \(old?["last"] ?? "")"
///   }
/// }
/// ```
///
/// Valid in the block that it is given to. All changes are one transaction: when the program stops or
/// opening throws, the file is as it was.
public class Migration {
  // Exclusivity is not checked: a migration has one user, and each access to an object ends before the
  // next.

  /// The classes as they were, with column names.
  public let oldSchema: Schema
  /// The classes as the program declares them.
  public let newSchema: Schema
  let old: RealmInstance
  let new: RealmInstance
  let session: WriteSession
  let declared: ClassSet
  private var dropped: Set<String> = []

  init(old: RealmInstance, new: RealmInstance, session: WriteSession, declared: ClassSet) {
    self.old = old
    self.new = new
    self.session = session
    self.declared = declared
    oldSchema = old.classSet.schema
    newSchema = declared.schema
  }

  /// Calls `block` with every object that a class had when the migration began and that was not
  /// deleted since.
  ///
  /// The old object is read-only. Unknown classes have no objects.
  public func enumerateObjects(
    ofType typeName: String, _ block: MigrationObjectEnumerateBlock
  ) {
    guard let oldAccess = old.access(named: typeName), !dropped.contains(typeName) else { return }
    let newAccess = new.access(named: typeName)
    let table = oldAccess.currentTable()
    let (told, path) = (old.configuration.migrationProgress, old.configuration.path)
    func report(_ progress: Progress) {
      told?(progress)
      Logger.log(
        .detail,
        "Migrating '\(path)': \(progress.completed) of \(progress.total) \(typeName) objects.")
    }
    var progress = Progress(className: typeName, completed: 0, total: table?.count ?? 0)
    report(progress)
    defer {
      if progress.completed > 0 { report(progress) }
    }
    let walk = ObjectWalk(oldAccess, oldAccess.layout, table?.groups.first)
    while let oldObject = walk.next() as? DynamicObject {
      if progress.completed > 0, progress.completed % Progress.step == 0 { report(progress) }
      defer { progress.completed += 1 }
      guard let newAccess else {
        block(oldObject, nil)
        continue
      }
      guard unsafe newAccess.creation(of: oldObject.key) == oldObject.created,
        let newObject = unsafe newAccess.object(forKey: oldObject.key) as? DynamicObject
      else { continue }
      block(oldObject, newObject)
      session.spillIfNeeded()
    }
  }

  /// Makes an object from a dictionary by property names, an array in order of declaration, or another
  /// object.
  ///
  /// What `value` leaves out gets the class's default. Stops at unknown classes, values of a wrong type
  /// and primary keys that are taken.
  @discardableResult
  public func create(_ typeName: String, value: Any = [Any]()) -> MigrationObject {
    let access = required(typeName)
    if access.stored.isEmbedded { fatalError("Embedded objects cannot be created directly") }
    let object = creation.object(of: access, value)
    session.spillIfNeeded()
    return object
  }

  var creation: DynamicCreation {
    DynamicCreation(realm: new, session: session, old: old, declared: declared)
  }

  /// Deletes an object; links to it become nil, lists lose it.
  public func delete(_ object: MigrationObject) {
    guard object.isManaged, unsafe object.instance === new else {
      fatalError("Can only delete an object from the Realm it belongs to.")
    }
    let access = object.classAccess
    object.requireRow(access)
    unsafe session.delete(object.key, access)
    object.detach()
  }

  /// Deletes all objects of a class, and the class itself when the program has it no more; false when
  /// there is no such class.
  @discardableResult public func deleteData(forType typeName: String) -> Bool {
    if let access = new.access(named: typeName) {
      session.delete(new.keys(of: access), access)
      return true
    }
    guard old.access(named: typeName) != nil, dropped.insert(typeName).inserted else {
      return false
    }
    if let access = unsafe new.classes.first(where: { $0.stored.name == typeName }) {
      // Classes that the program has no more may link to it.
      session.attempt { () throws(StoreError) in
        try session.dropIncomingLinks(new.keys(of: access), access)
      }
    }
    session.settle()
    session.attempt { () throws(StoreError) in
      try SchemaChanger(transaction: session.transaction).drop(className: typeName)
    }
    return true
  }

  /// Gives the property that is now called `newName` the values of the one that was called `oldName`.
  ///
  /// Both are column names. The class must have lost the old one and must have the new one, with the
  /// same type, and may not turn optional values into required ones; stops otherwise.
  public func renameProperty(
    onType typeName: String, from oldName: String, to newName: String
  ) {
    PropertyRenaming(self, typeName, from: oldName, to: newName).run()
  }

  /// How far the walk over the objects of a class is.
  public struct Progress: Sendable, Hashable {
    /// The class.
    public let className: String
    /// How many of its objects the block was called with, or were passed over.
    public internal(set) var completed: Int
    /// How many objects the class had when the migration began.
    public let total: Int

    /// Progress is told after so many objects.
    static let step = 4096
  }

  private func required(_ typeName: String) -> ClassAccess {
    guard let access = new.access(named: typeName) else {
      session.stopAtForeignClass(typeName)
    }
    return access
  }
}
