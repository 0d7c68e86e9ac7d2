public import DBus
internal import InterchangeWire
internal import SceneModel

extension Application {
  /// Starts the application, and runs it until the bus ends, the task is cancelled, or ``stop()`` is called.
  public func run(on connection: Connection? = nil) async throws(StagedoorError) {
    do throws(StagedoorError) {
      try await start(on: connection)
    } catch  where error.isCancellation || error == wasStopped {
      return
    }
    guard let hosting else { return }
    hosting.isAwaited = true
    let connected = hosting.connected
    let reason = await withTaskExecutorPreference(hosting.loop.taskExecutor) {
      let reason = await withTaskCancellationHandler {
        await connected.value
      } onCancel: {
        connected.cancel()
      }
      await stop(hosting)
      await hosting.terminating?.value
      return reason
    }
    if reason == .disconnected { throw .busHasGone }
  }

  /// Takes the application's name and attaches to the service, which the bus starts if it does not run. When this returns,
  /// ``didFinishLaunching(with:)`` was called, ``openSessions`` is complete, and windows can open.
  ///
  /// This is for programs with a main loop of their own; other programs use ``run(on:)``. The application now lives until ``stop()`` is called or the
  /// bus ends, even if nobody else keeps a reference to it.
  ///
  /// - Parameter connection: The connection to use, which the caller closes; `nil` opens a connection for the application.
  public func start(on connection: Connection? = nil) async throws(StagedoorError) {
    precondition(hosting == nil && !isLaunching, "\(identifier) has been started already")
    isLaunching = true
    starts += 1
    let start = starts
    let hosting: Hosting
    do throws(StagedoorError) { hosting = try await Hosting(identifier, on: connection) } catch {
      if start == starts { isLaunching = false }
      throw error
    }
    // The application may have been stopped meanwhile, and even started again.
    guard isLaunching, start == starts else {
      await hosting.close()
      throw wasStopped
    }
    self.hosting = hosting
    hosting.received.loadLimit.withLock { $0 = loadLimit }
    let termination = Termination()
    hosting.terminating = hosting.loop.task { await self.stop(at: termination, hosting) }
    do throws(StagedoorError) {
      try await hosting.takeName()
      try await withTaskExecutorPreference(hosting.loop.taskExecutor) { () async throws(StagedoorError) in
        try await follow(hosting)
      }
    } catch {
      let isStopped = hosting.isStopping
      await withTaskExecutorPreference(hosting.loop.taskExecutor) {
        // A scene may have been connected by then.
        await stop(hosting)
        await hosting.terminating?.value
      }
      throw isStopped && !error.isCancellation ? wasStopped : error
    }
    hosting.begin { await self.stopWhenBusGoes(hosting) }
  }

  /// Ends the scenes, sends their last changes to the service, and leaves the bus. The sessions stay. From the first moment on the application takes no
  /// delivery: the service holds later deliveries for the next start. If sessions were destroyed while the service was away, the bus starts the service,
  /// which then learns of their ends.
  public func stop() async {
    guard let hosting else {
      // `start()` may be connecting to the bus.
      isLaunching = false
      return
    }
    await stop(hosting)
  }

  /// Everyone who stops the application waits for the same end. By then nothing is left that a later start could lose to it.
  private func stop(_ hosting: Hosting) async {
    let stopping = hosting.stopping ?? beginStop(of: hosting)
    await withTaskExecutorPreference(hosting.loop.taskExecutor) { await stopping.value }
  }

  private func beginStop(of hosting: Hosting) -> Task<Void, Never> {
    hosting.isStopping = true
    for scene in connectedScenes { scene.end(.standard) }
    let stopping = hosting.loop.task {
      await self.written()
      await self.tellDestroyed(hosting)
      await hosting.close()
      self.scenes = [:]
      self.knownSessions = [:]
      self.isLaunching = false
      self.unwritten = UnwrittenChanges()
      self.destroyedSessions = []
      self.hosting = nil
    }
    hosting.stopping = stopping
    return stopping
  }

  /// Tells of sessions that were destroyed while the service was away: the next run of the program would show their windows again. The bus starts the
  /// service for this, because later nobody knows of it.
  private func tellDestroyed(_ hosting: Hosting) async {
    var stagedoor = hosting.stagedoor
    stagedoor.timeout = .seconds(5)
    for (session, animation) in unwritten.destroyed {
      do throws(StagedoorError) { try await stagedoor.destroy(session, animation: animation) } catch {
        if error.code != .noSuchSession { return }
      }
    }
  }

  private var wasStopped: StagedoorError {
    StagedoorError(.disconnected, "\(identifier) was stopped before it had started")
  }

  private func stopWhenBusGoes(_ hosting: Hosting) async {
    let reason = await hosting.connected.value
    guard reason != nil, !hosting.isAwaited, self.hosting === hosting else { return }
    await stop(hosting)
    if reason == .disconnected { didFail(.busHasGone, while: "running") }
  }

  private func stop(at termination: Termination, _ hosting: Hosting) async {
    guard let signal = await termination.signal(on: hosting.loop) else { return }
    await stop(hosting)
    termination.end(with: signal)
  }

  // MARK: Staying attached

  /// Attaches to the service, and again to each later owner of its name. Returns when the application has attached for the first time.
  private func follow(_ hosting: Hosting) async throws(StagedoorError) {
    let connection = hosting.stagedoor.connection
    let owners: OwnerSequence
    do throws(CallError) { owners = try await connection.owners(of: InterchangeNames.bus) } catch {
      throw StagedoorError(error)
    }
    // A call to the name lets the bus start the service.
    _ = try await hosting.stagedoor.eventSequence()
    // The application may have been stopped meanwhile.
    if hosting.isClosed { throw notStarted }
    defer { hosting.attempted.finish() }
    hosting.begin {
      for await owner in owners {
        // Without a service the changes wait: a call would start one that somebody has just stopped.
        hosting.isAttached = false
        hosting.owner = owner
        // The next service shows less of private sessions until the application has attached.
        hosting.follow(nil)
        self.bringAnnouncedToFront()
        hosting.note(.owner(owner))
      }
    }
    hosting.begin {
      await self.takeNews(hosting)
      hosting.attempted.finish()
    }
    var pause = Self.pauses.first
    for await result in hosting.attempts {
      switch result {
      case .success: return
      // This owner left meanwhile. Perhaps only another call lets the bus start the next one.
      case .failure(let error) where error.saysServiceLeft:
        if hosting.owner != nil { continue }
        await hosting.loop.sleep(for: pause)
        pause = min(pause * 2, .seconds(1))
        if hosting.owner == nil { _ = try await hosting.stagedoor.eventSequence() }
        if hosting.isClosed { throw notStarted }
      case .failure(let error): throw error
      }
    }
    if Task.isCancelled { throw .waitWasCancelled }
    throw wasStopped
  }

  private static let pauses = (first: Duration.milliseconds(100), longest: Duration.seconds(60))

  /// Answers the calls of the service, and attaches to each owner of its name. While an owner refuses this host or does not know its scenes, this tries
  /// again, after growing pauses. No other function attaches. This one ends with the application; what it has begun then does not.
  private func takeNews(_ hosting: Hosting) async {
    var pause = Self.pauses.first
    var hasFailed = false
    var hasHadOwner = false
    for await news in hosting.news {
      switch news {
      case .call(let call):
        await hosting.loop.task { await self.answer(call, hosting) }.value
        continue
      case .owner(let owner):
        hasHadOwner = hasHadOwner || owner != nil
        if owner != hosting.owner { continue }
        pause = Self.pauses.first
        // It may have left before it was asked.
        if owner == nil, hasHadOwner {
          hosting.attempted.yield(.failure(StagedoorError(.noReply, "the service has left")))
        }
      case .lost:
        // An attachment that began before the loss may have succeeded since.
        hosting.isAttached = false
        if hosting.hasWritten { pause = Self.pauses.first }
        hosting.pause(for: pause)
        continue
      case .pauseIsOver: break
      }
      hosting.endPause()
      guard let owner = hosting.owner, !hosting.isAttached, !hosting.isStopping else { continue }
      let result = await hosting.loop.task { await self.attach(to: owner, hosting) }.value
      let isFirst = if case .terminated = hosting.attempted.yield(result) { false } else { true }
      switch result {
      case .success: hasFailed = false
      case .failure where hosting.isStopping: continue
      case .failure(let error):
        // The caller that starts the application gets the first error. Of later errors, the first before the next success is reported.
        if !isFirst, !hasFailed, !error.saysServiceLeft {
          hasFailed = true
          didFail(error, while: "attaching to the service, which is tried again")
        }
        hosting.pause(for: pause)
      }
      pause = min(pause * 2, Self.pauses.longest)
    }
  }

  private func attach(to owner: BusName, _ hosting: Hosting) async -> Result<Void, StagedoorError> {
    hosting.allow(owner)
    hosting.hasWritten = false
    do throws(StagedoorError) {
      // From before the attachment on, so that no change of a session is missed.
      let feed = hosting.hasLaunched ? nil : try await hosting.stagedoor.sessionFeed()
      let held = feed == nil ? [] : try await hosting.stagedoor.held(for: identifier)
      let discarded = try await attached(to: owner, hosting)
      // Behind the attachment: of private sessions the service shows the content to their host only.
      let sessions: SessionSequence? =
        if let feed { try await hosting.stagedoor.liveSessions(of: identifier, from: feed) } else { nil }
      if hosting.isStopping || hosting.owner != owner { throw StagedoorError(.noReply, "the service has left") }
      hosting.isAttached = true
      for path in discarded { discardScene(at: path) }
      for scene in connectedScenes where scene.isAcknowledged { unwritten.repeatState(of: scene) }
      writeSoon()
      bringAnnouncedToFront()
      if let sessions {
        finishLaunching(LaunchOptions(deliveries: held), sessions, hosting)
      } else {
        hosting.follow { await self.followSessions(nil, hosting) }
        if !hosting.unopened.isEmpty { hosting.begin { await self.openWindows(hosting) } }
      }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  /// The sessions of this application that no longer exist.
  private func attached(to owner: BusName, _ hosting: Hosting) async throws(StagedoorError) -> [ObjectPath] {
    // Another owner of the name may not call this host yet.
    var stagedoor = hosting.stagedoor
    stagedoor.service = owner
    // The service believes that every other session has no scene.
    unwritten.removeReleases()
    let connected = connectedScenes.filter(\.isAcknowledged).map(\.id.path)
    func attach() async throws(StagedoorError) -> [ObjectPath] {
      // The application chooses in `configuration(forConnecting:)`, whatever the manifest says.
      try await stagedoor.call(
        "AttachHostWith", identifier, connected, ["choosesConfiguration": Variant.boolean(true)],
        returning: ObjectPath.self, [ObjectPath].self
      ).1
    }
    // An earlier run may have registered another manifest. An installed manifest stays, and a program in a sandbox must have one.
    if let manifest {
      do throws(StagedoorError) { try await stagedoor.register(manifest: manifest) } catch
        where error.code == .requestDenied || error.code == .accessDenied
      {}
    }
    return try await attach()
  }

  private func discardScene(at path: ObjectPath) {
    guard let identifier = SessionIdentifier(path.rawValue), let scene = scenes.removeValue(forKey: identifier) else {
      return
    }
    unwritten.removeAll(of: identifier)
    scene.end(.standard)
    unwritten.removeAll(of: identifier)
  }
}
