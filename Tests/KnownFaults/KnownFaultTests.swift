import Testing

struct KnownFaultTests {
  /// Goes red when an entry is stale: then its fault is cured, and its body belongs among the tests.
  @Test(arguments: KnownFault.all)
  func `each known fault is still there`(_ fault: KnownFault) async {
    await withKnownIssue("\(fault.title) (promised: \(fault.promise); broken in \(fault.place))") {
      try await fault.body()
    }
  }

  @Test func `no fault is listed twice`() {
    #expect(Set(KnownFault.all.map(\.title)).count == KnownFault.all.count)
  }
}
