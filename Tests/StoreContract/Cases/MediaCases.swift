import CambiumCore

/// What crashes, full media and failed operations leave, for stores that show their medium.
extension StoreContract {
  private static func hasNoMedium(_ subject: StoreSubject) -> String? {
    subject.medium == nil ? "it shows no medium" : nil
  }

  /// The promises that are asked only of stores that show their medium; they are among ``cases``.
  public static let media: [ContractCase<StoreSubject>] =
    (1...4 as ClosedRange<UInt64>).map { seed in
      ContractCase("no crash loses or tears a durable commit, seed \(seed)", unless: hasNoMedium) {
        run in
        guard let medium = try run.subject.medium?() else { return }
        try CrashProof(run: run, medium: medium, seed: seed).prove()
      }
    } + [
      ContractCase("a full medium aborts the write, and later ones succeed", unless: hasNoMedium) {
        run in
        guard let medium = try run.subject.medium?() as? any FillableMedium else { return }
        let store = try medium.open(codec: run.subject.codec?())
        let model = try StoreModel(store, seed: 1, durabilities: [.full])
        for _ in 0..<5 { try model.commit() }
        medium.setFull(true)
        let head = try store.newestHead()
        run.expectError("filling the medium", isFull) { () throws(StoreError) in
          var generator = SeededGenerator(seed: 2)
          for _ in 0..<100 {
            let writer = try store.beginWrite()
            _ = try FakeTree.change(writer, store, changeCount: 400, generator: &generator)
            _ = try writer.publish(root: writer.base.root, durability: .full, metadata: [])
          }
        }
        run.expect(try store.newestHead().root == head.root, "another content is there")
        medium.setFull(false)
        try model.commit()
        try model.check("when there is room again")
        run.note(model.findings)
      },

      ContractCase(
        "a medium that fills up under a commit keeps what was there, and what it took",
        unless: hasNoMedium
      ) { run in
        for durability in Durability.allCases {
          guard let medium = try run.subject.medium?() as? any FillableMedium else { return }
          let codec = try run.subject.codec?()
          let store = try medium.open(codec: codec)
          let model = try StoreModel(store, seed: 3, durabilities: [.full])
          for _ in 0..<5 { try model.commit() }
          var generator = SeededGenerator(seed: 4)
          var content = model.content
          for round in 0..<6 {
            let place = "\(durability), round \(round)"
            let writer = try store.beginWrite()
            let change = try FakeTree.change(
              writer, store, changeCount: 40, generator: &generator)
            medium.setFull(round % 2 == 0)
            do throws(StoreError) {
              _ = try writer.publish(root: change.root, durability: durability, metadata: [])
              // What it has room for, it may take.
              content = change.content
            } catch {
              run.expect(isFull(error), "\(place): publishing threw \(error)")
              run.expect(round % 2 == 0, "\(place): there is room, and it was refused")
            }
            try run.expectContent(store, content, place)
            medium.setFull(false)
          }
          try store.sync()
          let crashed = try medium.afterPowerLoss(
            atOperation: medium.operationCount, seed: UInt64(durability.rawValue))
          try run.expectContent(
            crashed.open(codec: codec), content, "\(durability), after a power loss")
        }
      },

      ContractCase(
        "a version that a crash took is given again in another epoch only", unless: hasNoMedium
      ) { run in
        guard var medium = try run.subject.medium?() else { return }
        let codec = try run.subject.codec?()
        let made = try medium.open(codec: codec)
        try StoreModel(made, seed: 1, durabilities: [.full]).commit()
        try made.close()
        var seen: [FakeTree.Content: [Head]] = [:]
        for seed in 2...9 as ClosedRange<UInt64> {
          let store = try medium.open(codec: codec)
          let writer = try store.beginWrite()
          let begun = medium.operationCount
          var generator = SeededGenerator(seed: seed)
          let change = try FakeTree.change(writer, store, changeCount: 5, generator: &generator)
          let pin = try writer.publish(root: change.root, durability: .relaxed, metadata: [])
          seen[change.content, default: []].append(pin.head)
          let crashed = try medium.afterPowerLoss(
            atOperation: Int.random(in: begun...medium.operationCount, using: &generator),
            seed: seed)
          try store.close()
          medium = crashed
        }
        let points = seen.values.map { heads in Set(heads.map { [$0.epoch, $0.version] }) }
        run.expect(
          points.reduce(0) { $0 + $1.count }
            == points.reduce(into: Set()) { $0.formUnion($1) }.count,
          "one epoch and version name two contents")
      },

      ContractCase("a failed operation leaves what was acknowledged", unless: hasNoMedium) { run in
        for durability in [Durability.full, .relaxed] {
          var index = 0
          var isDone = false
          while !isDone {
            index += 1
            guard let medium = try run.subject.medium?() as? any FaultyMedium else { return }
            isDone = try FaultProof(run: run, medium: medium, durability: durability).prove(index)
          }
          run.expect(index > 5, "\(durability): only \(index) operations of the medium")
        }
      },
    ]

  private static func isFull(_ error: StoreError) -> Bool {
    if case .mediumFull = error { true } else { false }
  }
}

/// Random work on a medium whose power is cut at and between its steps.
private struct CrashProof {
  let run: ContractRun<StoreSubject>
  let medium: any StoreMedium
  let seed: UInt64

  func prove() throws {
    let codec = try run.subject.codec?()
    var generator = SeededGenerator(seed: seed)
    let store = try medium.open(codec: codec)
    var contents: [FakeTree.Content] = [[]]
    var durable = 0
    for step in 0..<12 {
      let durableBefore = durable
      let operationsBefore = medium.operationCount
      switch Int.random(in: 0..<8, using: &generator) {
      case 0:
        try store.sync()
        durable = contents.count - 1
      case 1:
        let writer = try store.beginWrite()
        _ = try FakeTree.change(writer, store, changeCount: 10, generator: &generator)
        writer.abort()
      default:
        let writer = try store.beginWrite()
        let (root, content) = try FakeTree.change(
          writer, store, changeCount: 5, generator: &generator)
        let isFull = Bool.random(using: &generator)
        contents.append(content)
        _ = try writer.publish(root: root, durability: isFull ? .full : .relaxed, metadata: [])
        if isFull { durable = contents.count - 1 }
      }
      let operations = medium.operationCount
      for moment in [operations, operations]
        + (operationsBefore..<operations).shuffled(using: &generator).prefix(4)
      {
        let least = moment == operations ? durable : durableBefore
        let crashed = try medium.afterPowerLoss(atOperation: moment, seed: generator.next())
        try examine(
          crashed, codec, possible: Array(contents[least...]),
          "step \(step), operation \(moment)", &generator)
      }
    }
  }

  private func examine(
    _ medium: any StoreMedium, _ codec: (any PageCodec)?, possible: [FakeTree.Content],
    _ place: String,
    _ generator: inout SeededGenerator
  ) throws {
    let store = try medium.open(codec: codec)
    let reading = try FakeTree.read(store)
    run.expect(possible.contains(reading.content), "\(place): not a version that could be there")
    run.note(try store.check(reachable: reading.extents).map { "\(place): \($0)" })
    let model = try StoreModel(store, seed: generator.next())
    try model.commit()
    try model.check("\(place), working on")
    run.note(model.findings)
    try store.close()
  }
}

/// Commits until an operation of the medium fails, and looks at what is there then.
private struct FaultProof {
  let run: ContractRun<StoreSubject>
  let medium: any FaultyMedium
  let durability: Durability

  /// Fails operation number `index`; true when there are not that many.
  func prove(_ index: Int) throws -> Bool {
    let place = "\(durability), operation \(index)"
    let codec = try run.subject.codec?()
    let store = try medium.open(codec: codec)
    var generator = SeededGenerator(seed: 5)
    var acknowledged: [FakeTree.Content] = [[]]
    var durable = 0
    var begun: FakeTree.Content?
    medium.failOperation(medium.operationCount + index)
    do throws(StoreError) {
      for round in 0..<6 {
        let writer = try store.beginWrite()
        let (root, content) = try FakeTree.change(
          writer, store, changeCount: round == 2 ? 30 : 3, generator: &generator)
        begun = content
        _ = try writer.publish(root: root, durability: durability, metadata: [])
        acknowledged.append(content)
        begun = nil
        if durability != .full, round % 3 == 2 { try store.sync() }
        if durability == .full || round % 3 == 2 { durable = acknowledged.count - 1 }
      }
    } catch {
      // What may have failed is looked at below.
    }
    let isDone = !medium.endFault()
    try run.expectContent(store, acknowledged.last ?? [], place)
    do throws(StoreError) {
      try store.beginWrite().abort()
    } catch {
      run.expect(error == .poisoned(path: store.identity.path), "\(place): a write threw \(error)")
      run.expectError("\(place): syncing", { $0 == error }) { () throws(StoreError) in
        try store.sync()
      }
      let possible = Array(acknowledged[durable...]) + (begun.map { [$0] } ?? [])
      for seed in 0..<2 as Range<UInt64> {
        let crashed = try medium.afterPowerLoss(atOperation: medium.operationCount, seed: seed)
        let again = try crashed.open(codec: codec)
        let reading = try FakeTree.read(again)
        run.expect(possible.contains(reading.content), "\(place): after a crash not what could be")
        run.note(try again.check(reachable: reading.extents).map { "\(place): \($0)" })
        try StoreModel(again, seed: 2, durabilities: [.full]).commit()
      }
      return isDone
    }
    try StoreModel(store, seed: 1, durabilities: [.full]).commit()
    return isDone
  }
}
