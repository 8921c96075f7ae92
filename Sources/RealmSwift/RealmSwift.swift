/// Lets programs written for Realm Swift keep their `import RealmSwift` line.
@_exported import Cambium
