// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Logging
internal import UCI
internal import UWBLink

/// What to do when a device is lost: unplugged, failed, or restarted by itself.
///
/// Its consumers are told, the driver waits for the same device, builds its sessions again with what
/// was changed in them since, and starts those that were ranging. See `UWBDevice.Options.recovery`.
public struct RecoveryPolicy: Sendable, Hashable {
  /// How long to try before the device is given up; nil: without a limit.
  public var limit: Duration?

  /// How long a chip that ranges may be silent, and ten intervals at least, before it is asked
  /// whether it still has the session: it may have restarted without reporting it.
  public var watchdogInterval: Duration

  /// Creates a policy without a limit, unless one is given.
  public init(limit: Duration? = nil, watchdogInterval: Duration = .seconds(3)) {
    self.limit = limit
    self.watchdogInterval = watchdogInterval
  }
}

// Losing a device, and finding it again.
extension DeviceCore {
  // MARK: what the reader thread sees

  /// The link ended by itself.
  func linkEnded(_ error: LinkError) {
    logger.warning("link ended", metadata: ["cause": "\(error)"])
    engine.attach(nil)
    if state.withLock({ $0.home?.canReturn ?? false }) {
      handleLoss(.link(error))
    } else {
      abandon(.link(error))
    }
  }

  /// The device, or all it knew, is lost.
  func handleLoss(_ cause: DriverError) {
    let isNew = state.withLock { state -> Bool in
      state.losses += 1
      // In the middle of a recovery it is known already which of them are to range again.
      guard case .running = state.phase else { return false }
      for record in state.sessions {
        record.markLost(wasRanging: engine.isActive(record.token))
      }
      if recovery != nil {
        // The task begins by taking the lock, so it finds itself in place.
        state.phase = .recovering(Task { await self.recover(cause) }, cause)
      }
      return true
    }
    if isNew { logger.warning("device lost", metadata: ["cause": "\(cause)"]) }
    if recovery == nil {
      guard isNew else { return }
      // The chip is still there; what its sessions were is not.
      for record in sessions { finish(record, cause) }
      router.sessionsChanged()
      engine.interrupt(cause)
      engine.resume()
      broadcast.send(.lost(cause))
    } else {
      // In the middle of a recovery as well: its commands fail, and it begins again.
      engine.interrupt(cause)
      // Streams that had just been told that they go on are told again.
      router.interrupt(cause)
      if isNew { broadcast.send(.lost(cause)) }
    }
  }

  /// The same, seen by a task: what streams are told goes into them on the reader thread.
  func handleLossOnReader(_ cause: DriverError) async {
    await Task(executorPreference: reader) { self.handleLoss(cause) }.value
  }

  // MARK: finding it again

  private func recover(_ cause: DriverError) async {
    guard
      let (home, identity) = state.withLock({ state in
        state.home.flatMap { home in state.identity.map { (home, $0) } }
      })
    else { return }
    let limit = recovery?.limit.map { limit in
      OneShotTimer(after: limit) { self.abandon(cause) }
    }
    defer { limit?.cancel() }
    // The reader thread may still be telling of the loss, which fails every command that waits: the
    // first one of the recovery must come later.
    await Task(executorPreference: reader) {}.value
    var pause = 20
    var attempts = 0
    while !Task.isCancelled {
      let error: DriverError
      do throws(DriverError) {
        return try await attempt(home, identity)
      } catch let failure {
        error = failure
      }
      guard !Task.isCancelled else { return }
      logger.warning("not recovered yet", metadata: ["cause": "\(error)"])
      broadcast.send(.notRecovered(error))
      attempts += 1
      if home.canReturn {
        // With a new link next time: whatever is wrong with this one, it has not helped.
        reader.detach()
        engine.attach(nil)
      } else if attempts == Self.attemptsInPlace {
        return abandon(error)
      }
      // Whatever the attempt had achieved is over. The reader may not have seen why: a write can fail
      // first, and the link is gone then.
      await handleLossOnReader(error)
      try? await Task.sleep(for: .milliseconds(pause))
      pause = min(2 * pause, 1_000)
    }
  }

  /// How often a chip is asked to restart on a link that cannot be opened again.
  private static let attemptsInPlace = 3

  /// One attempt: link, chip, sessions.
  private func attempt(
    _ home: ReconnectTarget, _ identity: Handshake.Identity
  ) async throws(DriverError) {
    let losses = state.withLock { $0.losses }
    if !engine.hasLink {
      guard let link = await home.open() else { throw .closed }
      // It may have lost its power; a chip without flash has lost its firmware then.
      if let image = try await home.endpoint.firmwareToLoad() { try await link.load(image, nil) }
      router.linkChanges()
      engine.attach(link)
      reader.attach(link)
    }
    try await handshake.reidentify(identity)
    for record in sessions { try await rebuild(record) }
    for record in sessions where record.shouldResume { try await restart(record) }
    while try await !finishRecovery(losses) {}
    engine.resume()
    logger.info("device recovered")
    broadcast.send(.recovered)
  }

  /// Whether all is done that is to be done before callers may send again.
  private func finishRecovery(_ losses: Int) async throws(DriverError) -> Bool {
    // Closed by their owners while they were built again.
    let (closed, isLostAgain) = state.withLock { state in
      defer { state.closed = [] }
      let isLostAgain = state.losses != losses
      if state.closed.isEmpty, !isLostAgain, case .recovering = state.phase {
        state.phase = .running
        // Not before: had the device been lost again, all of them would have had to be started again.
        for record in state.sessions { record.cancelResume() }
      }
      return (state.closed, isLostAgain)
    }
    if isLostAgain { throw .recovering }
    for record in closed {
      guard let token = record.tokenOnChip else { continue }
      record.markRemoved()
      try await remove(token, from: .recovery)
      engine.forget(token)
    }
    return closed.isEmpty
  }

  private func rebuild(_ record: SessionRecord) async throws(DriverError) {
    try await isolatingFailure(of: record) { () async throws(DriverError) in
      try await self.build(record, from: .recovery)
      if !record.keyedControlees.isEmpty { try await self.addKeyedControlees(record) }
    }
  }

  private func restart(_ record: SessionRecord) async throws(DriverError) {
    try await isolatingFailure(of: record) { () async throws(DriverError) in
      try await self.start(record, from: .recovery)
      if !record.changesWhileRanging.isEmpty {
        try await self.configure(record, record.changesWhileRanging, .recovery)
      }
    }
  }

  /// A session that the chip no longer takes ends with its error; the others go on. What concerns
  /// the device ends the attempt.
  private func isolatingFailure(
    of record: SessionRecord, _ body: () async throws(DriverError) -> Void
  ) async throws(DriverError) {
    let error: DriverError
    do throws(DriverError) { return try await body() } catch let failure { error = failure }
    switch error.code {
    case .refused, .parametersRefused, .stateNotReached, .sessionEnded, .invalidConfiguration:
      logger.warning("session lost", metadata: ["cause": "\(error)"])
      _ = unregister(record, closing: false)
      if let token = record.tokenOnChip {
        record.markRemoved()
        try await remove(token, from: .recovery)
        engine.forget(token)
      }
      finish(record, error)
      broadcast.send(.sessionLost(sessionID: record.configuration.sessionID, error))
    default: throw error
    }
  }

  private func addKeyedControlees(_ record: SessionRecord) async throws(DriverError) {
    for action in [UpdateMulticastList.Action.addWithShortKey, .addWithLongKey] {
      let controlees = record.keyedControlees.filter { $0.key.count == action.keyLength }
      guard !controlees.isEmpty else { continue }
      try await engine.request(
        UpdateMulticastList(
          sessionToken: record.token, action: action, controlees: controlees), from: .recovery)
    }
  }

  // MARK: callers who wait for it

  /// Waits until a device that was lost during a caller's command is back, with the session.
  ///
  /// - Parameters:
  ///   - losses: how often the device had been lost before the command.
  ///   - error: how the command failed.
  /// - Throws: `error` where nothing was lost or the device does not come back; why the session did
  ///   not come back; `cancelled`.
  func waitForRecovery(
    of record: SessionRecord, _ losses: Int, _ error: DriverError
  ) async throws(DriverError) {
    guard recovery != nil else { throw error }
    let events = broadcast.subscribe(.bufferingNewest(256))
    // A write can fail before the reader has seen that the link is gone.
    if error.code == .link, state.withLock({ $0.losses == losses && $0.home?.canReturn ?? false }) {
      await handleLossOnReader(error)
    }
    var isBack = state.withLock { state in
      guard case .running = state.phase else { return false }
      return state.losses != losses || error == .recovering
    }
    if !isBack {
      guard state.withLock({ if case .recovering = $0.phase { true } else { false } }) else {
        throw error
      }
      waiting: for await event in events {
        switch event {
        case .recovered:
          isBack = true
          break waiting
        case .sessionLost(record.configuration.sessionID, let cause): throw cause
        default: break
        }
      }
    }
    if Task.isCancelled { throw .cancelled }
    guard isBack, sessions.contains(where: { $0 === record }) else { throw error }
  }

  // MARK: chips that may have lost their sessions without saying so

  /// How long a chip that may have restarted may take to say that it still has a session, in milliseconds; chips in
  /// the field take some 10.
  static let answerLimit = 500

  /// Asks a chip for its sessions after it did what only a restarted chip does. Any thread.
  func verifySessions() {
    let asks = state.withLock { state -> Bool in
      guard case .running = state.phase, !state.isVerifying, !state.sessions.isEmpty else {
        return false
      }
      state.isVerifying = true
      return true
    }
    guard asks else { return }
    Task {
      if let cause = await self.loss() { await self.handleLossOnReader(cause) }
      self.state.withLock { $0.isVerifying = false }
    }
  }

  /// Why the sessions are lost; nil when they are not.
  private func loss() async -> DriverError? {
    for record in sessions {
      guard let token = record.tokenOnChip else { continue }
      var cause: DriverError?
      do throws(DriverError) {
        let response = try await engine.send(
          GetSessionState(sessionToken: token), timeout: Self.answerLimit)
        if response.status == .sessionNotExist { cause = .deviceRestarted }
      } catch {
        // NXP's chips say nothing before their vendor's command.
        if error.code == .noAnswer { cause = error }
      }
      // Closed by its owner meanwhile: no wonder that it is gone.
      if let cause, sessions.contains(where: { $0 === record }) { return cause }
    }
    return nil
  }

  /// Checks in this interval whether sessions that range are heard of, as long as there are sessions:
  /// a device without any wakes nobody.
  func watch(_ silence: Duration) -> Task<Void, Never> {
    Task { [weak self] in
      while true {
        do { try await Task.sleep(for: silence) } catch { return }
        guard let self, self.hasSessionsToWatch() else { return }
        if self.isSilent(for: silence) { self.verifySessions() }
      }
    }
  }

  private func hasSessionsToWatch() -> Bool {
    state.withLock { state in
      if state.sessions.isEmpty { state.watch = nil }
      return state.watch != nil
    }
  }

  private func isSilent(for silence: Duration) -> Bool {
    let chip = engine.chip
    let ranging = sessions.filter { chip.sessions[$0.token]?.state == .active }
    let interval = ranging.map(\.configuration.interval).min().map { Duration.milliseconds($0) }
    guard let interval else { return false }
    let heard = router.heardAt
    let quiet = Duration.nanoseconds(Int64(clamping: CommandEngine.now()) - Int64(clamping: heard))
    return quiet > max(silence, interval * 10)
  }
}
