import Foundation
import RealmSwift
import Testing

// What programs for Realm Swift look like, in language mode 5 and under that product's name.

enum TaskState: String, PersistableEnum {
  case open, inProgress, done
}

class Project: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name = ""
  @Persisted var tasks: List<ProjectTask>
  @Persisted var created = Date()

  convenience init(name: String) {
    self.init()
    self.name = name
  }
}

class ProjectTask: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted(indexed: true) var title: String
  @Persisted var state = TaskState.open
  @Persisted var priority: Int?
  @Persisted var tags: List<String>
  @Persisted(originProperty: "tasks") var project: LinkingObjects<Project>
}

/// A class such as an app would have: it holds a Realm and results.
final class TaskStore {
  let realm: Realm
  let tasks: Results<ProjectTask>

  init(configuration: Realm.Configuration) throws {
    realm = try Realm(configuration: configuration)
    tasks = realm.objects(ProjectTask.self)
  }

  func add(_ titles: [String], to project: Project) throws {
    try realm.write {
      for (index, title) in titles.enumerated() {
        let task = ProjectTask()
        task.title = title
        task.priority = index == 0 ? nil : index
        task.tags.append(objectsIn: ["new", "n\(index)"])
        project.tasks.append(task)
      }
      realm.add(project, update: .modified)
    }
  }
}

/// What a thread found; read after the thread has signalled.
final class Names: @unchecked Sendable {
  var list: [String] = []
}

@Suite(.serialized) struct TypicalProgramTests {
  private let configuration = Realm.Configuration(
    inMemoryIdentifier: "typical-\(UUID().uuidString)",
    objectTypes: [Project.self, ProjectTask.self])

  @Test func `objects are added, queried, changed and deleted`() throws {
    let store = try TaskStore(configuration: configuration)
    let realm = store.realm
    let project = Project(name: "Garden")
    try store.add(["dig", "plant", "water", "wait"], to: project)

    #expect(store.tasks.count == 4)
    #expect(store.tasks.filter("priority > %@", 1).count == 2)
    #expect(store.tasks.filter("title BEGINSWITH 'w' AND state == %@", "open").count == 2)
    #expect(store.tasks.filter("ANY tags == 'n2'").first?.title == "water")
    #expect(store.tasks.where { $0.title.contains("a") && $0.priority == nil }.isEmpty)
    #expect(store.tasks.where { $0.state.in([.open, .done]) }.count == 4)
    #expect(store.tasks.sorted(byKeyPath: "title", ascending: false).first?.title == "water")
    #expect(
      store.tasks.sorted(by: [
        SortDescriptor(keyPath: "state"), SortDescriptor(keyPath: "title"),
      ]).map(\.title) == ["dig", "plant", "wait", "water"])
    #expect(store.tasks.max(ofProperty: "priority") as Int? == 3)
    #expect(project.tasks.first?.project.first?.name == "Garden")
    #expect(realm.object(ofType: Project.self, forPrimaryKey: project._id) == project)

    try realm.write {
      project.tasks[1].state = .done
      project.tasks.swapAt(0, 3)
      project.tasks.remove(at: 2)
    }
    #expect(project.tasks.map(\.title) == ["wait", "plant", "dig"])
    #expect(store.tasks.where { $0.state == .done }.count == 1)

    try realm.write { realm.delete(store.tasks.filter("state == 'done'")) }
    #expect(project.tasks.count == 2)
    try realm.write { realm.deleteAll() }
    #expect(project.isInvalidated)
    #expect(realm.isEmpty)
  }

  @Test func `an error in a write leaves everything as it was`() throws {
    struct Stop: Error {}
    let realm = try Realm(configuration: configuration)
    #expect(throws: Stop.self) {
      try realm.write {
        realm.create(Project.self, value: ["name": "half"])
        throw Stop()
      }
    }
    #expect(realm.objects(Project.self).isEmpty)
    #expect(!realm.isInWriteTransaction)
  }

  @Test func `objects cross to another queue by reference or by key`() throws {
    let store = try TaskStore(configuration: configuration)
    let project = Project(name: "House")
    try store.add(["paint"], to: project)
    let reference = ThreadSafeReference(to: project)
    let key = project._id
    let configuration = self.configuration
    let names = Names()
    let done = DispatchSemaphore(value: 0)
    Thread {
      autoreleasepool {
        if let realm = try? Realm(configuration: configuration),
          let project = realm.resolve(reference)
        {
          names.list.append(project.name)
          try? realm.write { project.name = "Painted house" }
          names.list.append(realm.object(ofType: Project.self, forPrimaryKey: key)?.name ?? "gone")
        }
      }
      done.signal()
    }.start()
    done.wait()
    #expect(names.list == ["House", "Painted house"])
    store.realm.refresh()
    #expect(project.name == "Painted house")
  }

  @Test func `frozen objects keep their version and thaw to the newest`() throws {
    let store = try TaskStore(configuration: configuration)
    let project = Project(name: "Old")
    try store.add([], to: project)
    let frozen = project.freeze()
    try store.realm.write { project.name = "New" }
    #expect(frozen.isFrozen)
    #expect(frozen.name == "Old")
    #expect(frozen.thaw()?.name == "New")
    #expect(store.realm.freeze().objects(Project.self).first?.name == "New")
  }

  @Test func `a missing folder is an error with a code`() {
    let url = URL(fileURLWithPath: "/nonexistent-folder/app.realm")
    do {
      _ = try Realm(fileURL: url)
      Issue.record("It opened.")
    } catch let error as Realm.Error {
      #expect(error.code == .fileNotFound || error.code == .fileAccess)
      #expect(error.localizedDescription.contains("/nonexistent-folder/app.realm"))
    } catch {
      Issue.record("\(error)")
    }
  }
}
