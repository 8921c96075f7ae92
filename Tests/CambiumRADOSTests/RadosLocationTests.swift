#if RADOS
  import CambiumCore
  import CambiumRADOS
  import Testing

  struct RadosLocationTests {
    @Test func `pool and name are enough`() throws {
      let location = try RadosLocation("db/ledger")
      #expect(location.pool == "db")
      #expect(location.name == "ledger")
      #expect(location.configuration == nil)
      #expect(location.user == "admin")
      #expect(location.cluster == "ceph")
      #expect(location.timeoutSeconds == 10)
      #expect(location.localCachePath == nil)
      #expect(location.localCacheMebibyteCount == nil)
      #expect(location.path == "rados:db/ledger")
    }

    @Test func `every option is understood, and a name may have parts`() throws {
      let text =
        "rados:p-1.x/a/b_c?conf=/tmp/a=b/ceph.conf&user=me&cluster=far&timeout=3"
        + "&cache=/tmp/my pages&cachesize=12"
      let location = try RadosLocation(text)
      #expect(location.pool == "p-1.x")
      #expect(location.name == "a/b_c")
      #expect(location.configuration == "/tmp/a=b/ceph.conf")
      #expect(location.user == "me")
      #expect(location.cluster == "far")
      #expect(location.timeoutSeconds == 3)
      #expect(location.localCachePath == "/tmp/my pages")
      #expect(location.localCacheMebibyteCount == 12)
      #expect(location.path == "rados:p-1.x/a/b_c")
    }

    @Test(arguments: [
      ("", "a pool and a name are missing"), ("db", "a pool and a name are missing"),
      ("db/", "a pool and a name are missing"), ("/x", "a pool and a name are missing"),
      ("db/a//b", "is empty"), ("db/a/", "is empty"), ("d b/a", "the pool 'd b'"),
      ("db/ä", "the name 'ä'"), ("db/a?colour=red", "there is no option 'colour'"),
      ("db/a?conf=", "'conf' has no value"), ("db/a?user", "'user' has no value"),
      ("db/a?user=a&user=b", "twice"), ("db/a?user=a b", "no name of a user"),
      ("db/a?timeout=0", "timeout"), ("db/a?timeout=-1", "timeout"),
      ("db/a?timeout=soon", "timeout"), ("db/a?timeout=9999999", "timeout"),
      ("db/a?cache=/p&cachesize=0", "size of the cache"),
      ("db/a?cache=/p&cachesize=1g", "size of the cache"),
      ("db/a?cachesize=5", "no path"),
    ])
    func `a text that is no location says why`(text: String, reason: String) {
      let error = #expect(throws: StoreError.self) { try RadosLocation(text) }
      guard case .notAStore("rados:\(text)", let found) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(found.contains(reason))
    }
  }
#endif
