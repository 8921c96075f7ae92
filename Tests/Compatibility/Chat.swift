import Dispatch
import Foundation
import RealmSwift
import Testing

// A messenger: rooms with messages, counts of what nobody has read, writes in the background.

class ChatUser: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted(originProperty: "author") var messages: LinkingObjects<ChatMessage>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class ChatMessage: Object {
  @Persisted(primaryKey: true) var id = UUID()
  @Persisted var author: ChatUser?
  @Persisted var text = ""
  @Persisted(indexed: true) var sent = Date()
  @Persisted var isRead = false
  @Persisted(originProperty: "messages") var room: LinkingObjects<ChatRoom>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class ChatRoom: Object {
  @Persisted(primaryKey: true) var title: String
  @Persisted var members: List<ChatUser>
  @Persisted var messages: List<ChatMessage>

  var unreadCount: Int { messages.filter("isRead == false").count }
  var latest: ChatMessage? { messages.sorted(byKeyPath: "sent", ascending: false).first }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Receives messages on a queue of its own.
final class ChatServer: @unchecked Sendable {
  private let queue = DispatchQueue(label: "server")
  private let configuration: Realm.Configuration

  init(_ configuration: Realm.Configuration) { self.configuration = configuration }

  func deliver(_ text: String, from author: String, to title: String, at seconds: Double)
    async throws
  {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      queue.async { [self] in
        do {
          let realm = try Realm(configuration: configuration, queue: queue)
          realm.writeAsync {
            let user = realm.create(ChatUser.self, value: ["name": author], update: .modified)
            let message = ChatMessage(value: ["text": text, "author": user])
            message.sent = Date(timeIntervalSince1970: seconds)
            let room = realm.create(ChatRoom.self, value: ["title": title], update: .modified)
            room.messages.append(message)
            if !room.members.contains(user) { room.members.append(user) }
          } onComplete: { error in
            if let error { done.resume(throwing: error) } else { done.resume() }
          }
        } catch { done.resume(throwing: error) }
      }
    }
  }
}

/// The badge of an app: how many messages are unread, as an actor sees it.
actor ChatBadge {
  private var realm: Realm?
  private var token: NotificationToken?
  private var waiting: [(count: Int, CheckedContinuation<Void, Never>)] = []
  private(set) var count = 0

  func start(_ configuration: Realm.Configuration) async throws {
    let realm = try await Realm(configuration: configuration, actor: self)
    self.realm = realm
    token = await realm.objects(ChatMessage.self).where { !$0.isRead }.observe(on: self) {
      badge, change in
      switch change {
      case .initial(let unread), .update(let unread, _, _, _): badge.show(unread.count)
      case .error: break
      }
    }
  }

  private func show(_ count: Int) {
    self.count = count
    for (_, continuation) in waiting.filter({ $0.count == count }) { continuation.resume() }
    waiting.removeAll { $0.count == count }
  }

  func wait(for count: Int) async {
    if self.count == count { return }
    await withCheckedContinuation { waiting.append((count, $0)) }
  }

  func readAll(in title: String) async throws {
    guard let realm else { return }
    let room = realm.object(ofType: ChatRoom.self, forPrimaryKey: title)
    try await realm.asyncWrite { room?.messages.setValue(true, forKey: "isRead") }
  }

  func stop() {
    token?.invalidate()
    realm = nil
  }
}

@Suite struct ChatProgram {
  @Test func `messages arrive, are counted and read`() async throws {
    var configuration = Realm.Configuration(inMemoryIdentifier: "chat")
    configuration.objectTypes = [ChatUser.self, ChatMessage.self, ChatRoom.self]
    let (server, badge) = (ChatServer(configuration), ChatBadge())
    try await badge.start(configuration)
    try await server.deliver("Hello", from: "Ann", to: "Maths", at: 10)
    try await server.deliver("Hi", from: "Bob", to: "Maths", at: 20)
    try await server.deliver("Anybody?", from: "Ann", to: "Music", at: 30)
    await badge.wait(for: 3)
    let frozen = try await snapshot(configuration)
    try await badge.readAll(in: "Maths")
    await badge.wait(for: 1)
    #expect(frozen.objects(ChatMessage.self).filter("isRead == NO").count == 3)
    let counts = try await counts(configuration)
    #expect(counts == ["Maths 0 Hi", "Music 1 Anybody?"])
    await badge.stop()
  }

  @MainActor private func snapshot(_ configuration: Realm.Configuration) async throws -> Realm {
    try await Realm(configuration: configuration, actor: MainActor.shared).freeze()
  }

  @MainActor private func counts(_ configuration: Realm.Configuration) async throws -> [String] {
    let realm = try await Realm(configuration: configuration, actor: MainActor.shared)
    let ann = realm.object(ofType: ChatUser.self, forPrimaryKey: "Ann")
    #expect(ann?.messages.count == 2)
    #expect(
      ann?.messages.sorted(byKeyPath: "sent").map { $0.room.first?.title } == ["Maths", "Music"])
    return realm.objects(ChatRoom.self).sorted(byKeyPath: "title")
      .map { "\($0.title) \($0.unreadCount) \($0.latest?.text ?? "")" }
  }
}
