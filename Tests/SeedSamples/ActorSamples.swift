// swift-format-ignore-file: NeverUseForceTry, AllPublicDeclarationsHaveDocumentation

// The samples are written so.
import Foundation
import RealmSwift
import TestSupport
import Testing

// The document on actors. Types of the same name in several samples stand where each sample is.

actor RealmActor {
  // An implicitly-unwrapped optional is used here to let us pass `self` to
  // `Realm(actor:)` within `init`
  var realm: Realm!
  init() async throws {
    realm = try await Realm(actor: self)
  }

  var count: Int {
    realm.objects(Todo.self).count
  }

  func createTodo(name: String, owner: String, status: String) async throws {
    try await realm.asyncWrite {
      realm.create(
        Todo.self,
        value: [
          "_id": ObjectId.generate(),
          "name": name,
          "owner": owner,
          "status": status,
        ])
    }
  }

  func getTodoOwner(forTodoNamed name: String) -> String {
    let todo = realm.objects(Todo.self).where {
      $0.name == name
    }.first!
    return todo.owner
  }

  struct TodoStruct {
    var id: ObjectId
    var name, owner, status: String
  }

  func getTodoAsStruct(forTodoNamed name: String) -> TodoStruct {
    let todo = realm.objects(Todo.self).where {
      $0.name == name
    }.first!
    return TodoStruct(id: todo._id, name: todo.name, owner: todo.owner, status: todo.status)
  }

  func updateTodo(_id: ObjectId, name: String, owner: String, status: String) async throws {
    try await realm.asyncWrite {
      realm.create(
        Todo.self,
        value: [
          "_id": _id,
          "name": name,
          "owner": owner,
          "status": status,
        ], update: .modified)
    }
  }

  func deleteTodo(id: ObjectId) async throws {
    try await realm.asyncWrite {
      let todoToDelete = realm.object(ofType: Todo.self, forPrimaryKey: id)
      realm.delete(todoToDelete!)
    }
  }

  func close() {
    realm = nil
  }
}

// A simple example of a custom global actor
@globalActor actor GlobalBackgroundActor: GlobalActor {
  static var shared = GlobalBackgroundActor()
}

// Create a simple actor
actor BackgroundActor {
  public func deleteTodo(tsrToTodo tsr: ThreadSafeReference<Todo>) throws {
    let realm = try! Realm()
    try realm.write {
      // Resolve the thread safe reference on the Actor where you want to use it.
      // Then, do something with the object.
      let todoOnActor = realm.resolve(tsr)
      realm.delete(todoOnActor!)
    }
  }
}

extension SeedSamples {
  @Suite(.serialized) struct Actors {
    @MainActor private func useTheRealm(realm: Realm) async throws {
      try await realm.asyncWrite { _ = realm.create(Todo.self, value: ["name": "use"]) }
      XCTAssertEqual(realm.objects(Todo.self).isEmpty, false)
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Open an actor-confined Realm`(place: Place) async throws {
      let folder = try place.makeDefault()
      @MainActor
      func mainThreadFunction() async throws {
        // These are identical: the async init produces a
        // MainActor-isolated Realm if no actor is supplied
        let realm1 = try await Realm()
        let realm2 = try await Realm(actor: MainActor.shared)
        try await useTheRealm(realm: realm1)
        XCTAssertEqual(realm1, realm2)
      }
      try await mainThreadFunction()
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test func `Open an actor-confined Realm with a configuration`() async throws {
      let folder = try Place.file.makeDefault()
      @MainActor
      func mainThreadFunction() async throws {
        let username = "Galadriel"
        // Customize the default realm config
        var config = Realm.Configuration.defaultConfiguration
        config.fileURL!.deleteLastPathComponent()
        config.fileURL!.appendPathComponent(username)
        config.fileURL!.appendPathExtension("realm")
        // Open an actor-isolated realm with a specific configuration
        let realm = try await Realm(configuration: config, actor: MainActor.shared)
        try await useTheRealm(realm: realm)
        XCTAssertEqual(config.fileURL!.lastPathComponent, "Galadriel.realm")
        XCTAssertEqual(FileManager.default.fileExists(atPath: config.fileURL!.path), true)
      }
      try await mainThreadFunction()
      withExtendedLifetime(folder) {}
    }

    @Test(arguments: Place.allCases)
    func `Define a custom Realm actor`(place: Place) async throws {
      let folder = try place.makeDefault()
      let actor = try await RealmActor()
      try await actor.createTodo(name: "Write", owner: "Bilbo", status: "In Progress")
      let todo = await actor.getTodoAsStruct(forTodoNamed: "Write")
      try await actor.updateTodo(_id: todo.id, name: "Write", owner: "Frodo", status: "Complete")
      XCTAssertEqual(await actor.getTodoOwner(forTodoNamed: "Write"), "Frodo")
      XCTAssertEqual(await actor.count, 1)
      try await actor.deleteTodo(id: todo.id)
      XCTAssertEqual(await actor.count, 0)
      await actor.close()
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Use a global actor`(place: Place) async throws {
      let folder = try place.makeDefault()
      @GlobalBackgroundActor
      func backgroundThreadFunction() async throws {
        // Explicitly specifying the actor is required for anything that is not MainActor
        let realm = try await Realm(actor: GlobalBackgroundActor.shared)
        try await realm.asyncWrite {
          _ = realm.create(
            Todo.self,
            value: [
              "name": "Pledge fealty and service to Gondor",
              "owner": "Pippin",
              "status": "In Progress",
            ])
        }
        // Thread-confined Realms would sometimes throw an exception here, as we
        // may end up on a different thread after an `await`
        let todoCount = realm.objects(Todo.self).count
        print("The number of Realm objects is: \(todoCount)")
        XCTAssertEqual(todoCount, 1)
      }
      @MainActor
      func mainThreadFunction() async throws {
        try await backgroundThreadFunction()
      }
      try await mainThreadFunction()
      withExtendedLifetime(folder) {}
    }

    @Test(arguments: Place.allCases)
    func `Use a Realm actor synchronously in an isolated function`(place: Place) async throws {
      let folder = try place.makeDefault()
      func createObject(in actor: isolated RealmActor) async throws {
        // Because this function is isolated to this actor, you can use
        // realm synchronously in this context without async/await keywords
        try actor.realm.write {
          actor.realm.create(
            Todo.self,
            value: [
              "name": "Keep it secret",
              "owner": "Frodo",
              "status": "In Progress",
            ])
        }
        let taskCount = actor.count
        print("The actor currently has \(taskCount) tasks")
        XCTAssertEqual(taskCount, 1)
      }
      let actor = try await RealmActor()
      try await createObject(in: actor)
      withExtendedLifetime(folder) {}
    }

    @Test(arguments: Place.allCases)
    func `Use a Realm actor in async functions`(place: Place) async throws {
      let folder = try place.makeDefault()
      let actor = try await RealmActor()
      func createObject() async throws {
        // Because this function is not isolated to this actor,
        // you must await operations completed on the actor
        try await actor.createTodo(
          name: "Take the ring to Mount Doom", owner: "Frodo", status: "In Progress")
        let taskCount = await actor.count
        print("The actor currently has \(taskCount) tasks")
        XCTAssertEqual(taskCount, 1)
      }
      try await createObject()
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Pass Sendable types, such as a value`(place: Place) async throws {
      let folder = try place.makeDefault()
      @MainActor
      func mainThreadFunction() async throws {
        // Create an object in an actor-isolated realm.
        // Pass primitive data to the actor instead of
        // creating the object here and passing the object.
        let actor = try await RealmActor()
        try await actor.createTodo(
          name: "Prepare fireworks for birthday party", owner: "Gandalf", status: "In Progress")
        // Later, get information off the actor-confined realm
        let todoOwner = await actor.getTodoOwner(
          forTodoNamed: "Prepare fireworks for birthday party")
        XCTAssertEqual(todoOwner, "Gandalf")
      }
      try await mainThreadFunction()
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Pass a primary key and query for the object on another actor`(
      place: Place
    ) async throws {
      let folder = try place.makeDefault()
      // Execute code on a specific actor - in this case, the @MainActor
      @MainActor
      func mainThreadFunction() async throws {
        // Create an object off the main actor
        func createObject(in actor: isolated BackgroundActor) async throws -> ObjectId {
          let realm = try await Realm(actor: actor)
          let newTodo = try await realm.asyncWrite {
            realm.create(
              Todo.self,
              value: [
                "name": "Pledge fealty and service to Gondor",
                "owner": "Pippin",
                "status": "In Progress",
              ])
          }
          // Share the todo's primary key so we can easily query for it on another actor
          return newTodo._id
        }
        // Initialize an actor where you want to perform background work
        let actor = BackgroundActor()
        let newTodoId = try await createObject(in: actor)
        let realm = try await Realm()
        let todoOnMainActor = realm.object(ofType: Todo.self, forPrimaryKey: newTodoId)
        XCTAssertEqual(todoOnMainActor?.owner, "Pippin")
      }
      try await mainThreadFunction()
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Pass a Sendable representation of an object`(place: Place) async throws {
      let folder = try place.makeDefault()
      @MainActor
      func mainThreadFunction() async throws {
        // Create an object in an actor-isolated realm.
        let actor = try await RealmActor()
        try await actor.createTodo(
          name: "Leave the ring on the mantle", owner: "Bilbo", status: "In Progress")
        // Get information as a struct or other Sendable type.
        let todoAsStruct = await actor.getTodoAsStruct(
          forTodoNamed: "Leave the ring on the mantle")
        XCTAssertEqual(todoAsStruct.owner, "Bilbo")
      }
      try await mainThreadFunction()
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Observe notifications on a different actor: collections`(place: Place) async throws {
      let folder = try place.makeDefault()
      let (told, tell) = AsyncStream.makeStream(of: String.self)
      // Execute some code on a different actor - in this case, the MainActor
      @MainActor
      func mainThreadFunction() async throws {
        let backgroundActor = BackgroundActor()
        let realm = try! await Realm()
        // Create a todo item so there is something to observe
        try await realm.asyncWrite {
          realm.create(
            Todo.self,
            value: [
              "_id": ObjectId.generate(),
              "name": "Arrive safely in Bree",
              "owner": "Merry",
              "status": "In Progress",
            ])
        }
        // Get the collection of todos on the current actor
        let todoCollection = realm.objects(Todo.self)
        // Register a notification token, providing the actor where you want to observe changes.
        // This is only required if you want to observe on a different actor.
        let token = await todoCollection.observe(
          on: backgroundActor,
          { actor, changes in
            print("A change occurred on actor: \(actor)")
            switch changes {
            case .initial:
              print("The initial value of the changed object was: \(changes)")
              tell.yield("initial")
            case .update(_, let deletions, let insertions, let modifications):
              if !deletions.isEmpty {
                print("An object was deleted: \(changes)")
                tell.yield("deleted \(deletions)")
              } else if !insertions.isEmpty {
                print("An object was inserted: \(changes)")
                tell.yield("inserted \(insertions)")
              } else if !modifications.isEmpty {
                print("An object was modified: \(changes)")
                tell.yield("modified \(modifications)")
              }
            case .error(let error):
              print("An error occurred: \(error.localizedDescription)")
            }
          })
        var changes = told.makeAsyncIterator()
        XCTAssertEqual(await changes.next(), "initial")
        // Update an object to trigger the notification.
        // This example triggers a notification that the object is deleted.
        // We can pass a thread-safe reference to an object to update it on a different actor.
        let todo = todoCollection.where {
          $0.name == "Arrive safely in Bree"
        }.first!
        let threadSafeReferenceToTodo = ThreadSafeReference(to: todo)
        try await backgroundActor.deleteTodo(tsrToTodo: threadSafeReferenceToTodo)
        XCTAssertEqual(await changes.next(), "deleted [0]")
        // Invalidate the token when done observing
        token.invalidate()
      }
      try await mainThreadFunction()
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Observe notifications on a different actor: objects`(place: Place) async throws {
      let folder = try place.makeDefault()
      let (told, tell) = AsyncStream.makeStream(of: String.self)
      // Execute some code on a specific actor - in this case, the MainActor
      @MainActor
      func mainThreadFunction() async throws {
        // Initialize an instance of another actor
        // where you want to do background work
        let backgroundActor = BackgroundActor()
        // Create a todo item so there is something to observe
        let realm = try! await Realm()
        let scourTheShire = try await realm.asyncWrite {
          realm.create(
            Todo.self,
            value: [
              "_id": ObjectId.generate(),
              "name": "Scour the Shire",
              "owner": "Merry",
              "status": "In Progress",
            ])
        }
        // Register a notification token, providing the actor
        let token = await scourTheShire.observe(
          on: backgroundActor,
          { actor, change in
            print("A change occurred on actor: \(actor)")
            switch change {
            case .change(let object, let properties):
              for property in properties {
                print(
                  "Property '\(property.name)' of object \(object) changed to '\(property.newValue!)'"
                )
                tell.yield("\(property.name): \(property.newValue!)")
              }
            case .error(let error):
              print("An error occurred: \(error)")
            case .deleted:
              print("The object was deleted.")
            }
          })
        // Update the object to trigger the notification.
        // This triggers a notification that the object's `status` property has been changed.
        try await realm.asyncWrite {
          scourTheShire.status = "Complete"
        }
        var changes = told.makeAsyncIterator()
        XCTAssertEqual(await changes.next(), "status: Complete")
        // Invalidate the token when done observing
        token.invalidate()
      }
      try await mainThreadFunction()
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test(arguments: Place.allCases)
    func `asyncRefresh`(place: Place) async throws {
      let folder = try place.makeDefault()
      let realm = try await Realm()
      XCTAssertEqual(realm.objects(Todo.self).count, 0)
      let actor = try await RealmActor()
      try await actor.createTodo(name: "n", owner: "o", status: "s")
      await realm.asyncRefresh()
      XCTAssertEqual(realm.objects(Todo.self).count, 1)
      withExtendedLifetime(folder) {}
    }
  }
}
