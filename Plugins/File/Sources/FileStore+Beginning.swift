import CambiumCore

/// Writes that begin without a thread that waits for them.
extension FileStore {
  /// Waits for the writer lock in the background, and calls `then` once the write has begun.
  ///
  /// The turn among the writers of this process comes with the end of the write before; the lock among
  /// processes is tried now and then on a lane that all databases of the process share. What may touch
  /// the medium happens on a lane of this store, and there `then` is called.
  public func beginWrite(
    then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    do throws(StoreError) {
      if options.isReadOnly { throw .readOnly(path: path) }
      try ensureWritable()
    } catch {
      return background.beginnings.add { then(.failure(error)) }
    }
    writers.enter { [self] in
      guard let writerLock else { return begin(then) }
      lockAmongProcesses(writerLock, then)
    }
  }

  /// Begins a write if nobody writes and nobody waits, in this process or another one.
  public func beginWriteIfFree() throws(StoreError) -> (any PageWriter)? {
    if options.isReadOnly { throw .readOnly(path: path) }
    try ensureWritable()
    guard writers.enterIfFree() else { return nil }
    if let writerLock {
      do throws(StoreError) {
        guard try writerLock.enterIfFree() else {
          writers.leave()
          return nil
        }
      } catch {
        writers.leave()
        throw error
      }
    }
    // Who asks this does not wait for the medium.
    if wantsRoom {
      releaseWriterLock()
      return nil
    }
    return try writer()
  }

  private func lockAmongProcesses(
    _ lock: WriterLock,
    _ then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    let attempt = WriterLock.Attempt(lock)
    let job = BackgroundJob(.shared)
    let isScheduled = job.schedule { [self] now in
      do throws(StoreError) {
        // Closing ends the wait.
        try ensureWritable()
        if try !attempt.succeeds(now) { return now + WriterLock.Attempt.pauseNanoseconds }
        begin(then)
      } catch {
        attempt.giveUp()
        writers.leave()
        background.beginnings.add { then(.failure(error)) }
      }
      return nil
    }
    // Without a thread, or in a forked child, the caller waits.
    if isScheduled { return }
    do throws(StoreError) {
      try lock.enter()
      begin(then)
    } catch {
      writers.leave()
      background.beginnings.add { then(.failure(error)) }
    }
  }

  /// Begins the write of who holds the writer lock.
  private func begin(
    _ then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    background.beginnings.add { [self] in
      do throws(StoreError) { then(.success(try writer())) } catch { then(.failure(error)) }
    }
  }
}
