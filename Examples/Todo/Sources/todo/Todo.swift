import Cambium
import Foundation

/// Something to do.
final class Task: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var text: String
  @Persisted var due: Date?
  @Persisted(indexed: true) var isDone: Bool
  @Persisted var tags: MutableSet<String>
}

/// A to-do list on the command line; it is kept in `TODO_FILE`, or in a file of the home folder.
@main
struct Todo {
  static let usage = """
    todo                        what is to be done
    todo all                    what was done as well
    todo add TEXT [--due 2026-12-24] [--tag NAME]…
    todo done NUMBER…
    todo remove NUMBER…
    todo find QUERY             such as "due < {2026-12-01T00:00:00Z}" or "ANY tags = 'home'"
    """

  let realm: Realm

  static func main() {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let command = arguments.isEmpty ? "open" : arguments.removeFirst()
    do {
      try Todo().run(command, arguments)
    } catch let error as Realm.Error {
      end(error.localizedDescription)
    } catch {
      end("\(error)")
    }
  }

  init() throws {
    let file =
      ProcessInfo.processInfo.environment["TODO_FILE"].map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".todo.cambium")
    realm = try Realm(configuration: Realm.Configuration(fileURL: file, objectTypes: [Task.self]))
  }

  private func run(_ command: String, _ arguments: [String]) throws {
    let tasks = realm.objects(Task.self)
    switch command {
    case "open": show(tasks.where { !$0.isDone })
    case "all": show(tasks)
    case "add": try add(arguments)
    case "done": try forEach(arguments) { $0.isDone = true }
    case "remove": try forEach(arguments) { realm.delete($0) }
    case "find":
      // A query that comes from outside is read as text: a mistake in it is an error with its place.
      let query = try TextQuery(arguments.joined(separator: " "))
      for task in try query.results(in: realm, ofType: "Task") {
        show(task["number"] as? Int ?? 0, task["text"] as? String ?? "")
      }
    default: throw Failure(Self.usage)
    }
  }

  private func add(_ arguments: [String]) throws {
    let task = Task()
    var words: [String] = []
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--tag": task.tags.insert(try Self.value(of: word, &rest))
      case "--due":
        let text = try Self.value(of: word, &rest)
        guard let due = try? Date(text + "T00:00:00Z", strategy: .iso8601) else {
          throw Failure("'\(text)' is no day such as 2026-12-24.")
        }
        task.due = due
      default: words.append(word)
      }
    }
    guard !words.isEmpty else { throw Failure("What is there to do?") }
    task.text = words.joined(separator: " ")
    try realm.write {
      // Numbers count on inside of the transaction, so that two programs never give the same.
      task.number = (realm.objects(Task.self).max(of: \.number) ?? 0) + 1
      realm.add(task)
    }
    show(task.number, task.text)
  }

  private func forEach(_ numbers: [String], _ body: (Task) -> Void) throws {
    // All or none: an error in the middle takes back what was done before it.
    try realm.write {
      for text in numbers {
        guard let number = Int(text),
          let task = realm.object(ofType: Task.self, forPrimaryKey: number)
        else { throw Failure("There is no task '\(text)'.") }
        body(task)
      }
    }
  }

  private func show(_ tasks: Results<Task>) {
    for task in tasks.sorted(by: [
      SortDescriptor(keyPath: "due"), SortDescriptor(keyPath: "number"),
    ]) {
      let due = task.due.map { " (until \($0.formatted(.iso8601.year().month().day())))" } ?? ""
      let tags = task.tags.sorted().map { " #\($0)" }.joined(separator: "")
      show(task.number, "\(task.isDone ? "✓ " : "")\(task.text)\(due)\(tags)")
    }
  }

  private func show(_ number: Int, _ text: String) { print("\(number)  \(text)") }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst() else { throw Failure("'\(option)' takes a value.") }
    return value
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  private static func end(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
  }
}
