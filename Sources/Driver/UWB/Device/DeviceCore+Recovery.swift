// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Logging
internal import UCI
internal import UWBLink

/// The reaction to the loss of a device: it was unplugged, failed, or restarted by itself.
///
/// The streams are interrupted, and the driver waits for the same device. It makes the device's
/// sessions again, with all later changes, and starts the sessions that were ranging. See
/// `UWBDevice.Options.recovery`.
public struct RecoveryPolicy: Sendable, Hashable {
  /// The time after which recovery ends without success; nil: no limit.
  public var limit: Duration?

  /// The time without frames, at least ten ranging intervals, after which the chip is asked whether
  /// it still has the session. It may have restarted without reporting it.
  public var watchdogInterval: Duration

  /// Creates a policy without a limit, unless one is given.
  public init(limit: Duration? = nil, watchdogInterval: Duration = .seconds(3)) {
    self.limit = limit
    self.watchdogInterval = watchdogInterval
  }
}

// Losing a device, and finding it again.
extension DeviceCore {
  // MARK: detection on the reader thread

  /// Handles a link that ended by itself.
  func linkEnded(_ error: LinkError) {
    logger.warning("link ended", metadata: ["cause": "\(error)"])
    engine.attach(nil)
    if state.withLock({ $0.home?.canReturn ?? false }) {
      handleLoss(.link(error))
    } else {
      abandon(.link(error))
    }
  }

  /// Handles the loss of the device, or of all its sessions.
  func handleLoss(_ cause: DriverError) {
    let isNew = state.withLock { state -> Bool in
      state.losses += 1
      // During a recovery, the list of sessions to start again already exists.
      guard case .running = state.phase else { return false }
      for record in state.sessions {
        record.markLost(wasRanging: engine.isActive(record.token))
      }
      if recovery != nil {
        // The task begins by taking this lock, so its handle is stored before it runs.
        state.phase = .recovering(Task { await self.recover(cause) }, cause)
      }
      return true
    }
    if isNew { logger.warning("device lost", metadata: ["cause": "\(cause)"]) }
    if recovery == nil {
      guard isNew else { return }
      // The chip is still connected, but its sessions are lost.
      for record in sessions { finish(record, cause) }
      router.sessionsChanged()
      engine.interrupt(cause)
      engine.resume()
      broadcast.send(.lost(cause))
    } else {
      // If the device is lost during a recovery, this fails the recovery's commands, and the
      // recovery starts again.
      engine.interrupt(cause)
      // Streams that were just resumed are interrupted again.
      router.interrupt(cause)
      if isNew { broadcast.send(.lost(cause)) }
    }
  }

  /// The cause of the loss while the device is being recovered.
  var outage: DriverError? {
    state.withLock { if case .recovering(_, let cause) = $0.phase { cause } else { nil } }
  }

  /// Handles a loss that a task detected. Streams are interrupted on the reader thread.
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
      clock.timer(limit) { self.abandon(cause) }
    }
    defer { limit?.cancel() }
    // Handling the loss fails every command that waits. The reader thread may not have finished it
    // yet, so the first command of the recovery waits for it.
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
        // The next attempt opens a new link, because this one may be the cause.
        reader.detach()
        engine.attach(nil)
      } else if attempts == Self.attemptsInPlace {
        return abandon(error)
      }
      // The results of the attempt are discarded. After a failed write, the reader may not have
      // detected the loss yet.
      await handleLossOnReader(error)
      await clock.sleep(for: .milliseconds(pause))
      pause = min(2 * pause, 1_000)
    }
  }

  /// The number of restarts of a chip whose link cannot be opened again.
  private static let attemptsInPlace = 3

  /// Makes one attempt: opens the link, identifies the chip, and makes its sessions again.
  private func attempt(
    _ home: ReconnectTarget, _ identity: Handshake.Identity
  ) async throws(DriverError) {
    let losses = state.withLock { $0.losses }
    if !engine.hasLink {
      guard let link = await home.open() else { throw .closed }
      // The chip may have lost its power, and a chip without flash then has no firmware.
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

  /// Completes the recovery. Returns whether callers may send again.
  private func finishRecovery(_ losses: Int) async throws(DriverError) -> Bool {
    // `closed` are sessions that their owners closed during the recovery.
    let (closed, isLostAgain) = state.withLock { state in
      defer { state.closed = [] }
      let isLostAgain = state.losses != losses
      if state.closed.isEmpty, !isLostAgain, case .recovering = state.phase {
        state.phase = .running
        // These flags are needed until now: after another loss, the sessions would have to start
        // again.
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

  /// Ends a session that the chip no longer accepts with its error, so that the others continue.
  /// Throws errors of the device, which end the attempt.
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

  // MARK: callers that wait for the recovery

  /// Waits until the device, which was lost during a caller's command, is back with the session.
  ///
  /// - Parameters:
  ///   - losses: the number of losses before the command.
  ///   - error: the error of the command.
  /// - Throws: `error` if the device was not lost or does not return; the error of the session if
  ///   it did not return; `cancelled`.
  func waitForRecovery(
    of record: SessionRecord, _ losses: Int, _ error: DriverError
  ) async throws(DriverError) {
    guard recovery != nil else { throw error }
    let events = broadcast.subscribe(.bufferingNewest(256))
    // A write may fail before the reader has detected the loss of the link.
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

  // MARK: chips that may have lost their sessions without reporting it

  /// The time-out, in milliseconds, for a chip that may have restarted to confirm a session. Real
  /// chips take about 10.
  static let answerLimit = 500

  /// Asks a chip for its sessions after a message that only a restarted chip sends. Any thread.
  func verifySessions() {
    let losses = state.withLock { state -> Int? in
      guard case .running = state.phase, !state.isVerifying, !state.sessions.isEmpty else {
        return nil
      }
      state.isVerifying = true
      return state.losses
    }
    guard let losses else { return }
    Task {
      // Another message may have reported the same loss meanwhile.
      if let cause = await self.loss(), self.state.withLock({ $0.losses == losses }) {
        await self.handleLossOnReader(cause)
      }
      self.state.withLock { $0.isVerifying = false }
    }
  }

  /// Returns the reason why the sessions are lost; nil when they are not.
  private func loss() async -> DriverError? {
    for record in sessions {
      guard let token = record.tokenOnChip else { continue }
      var cause: DriverError?
      do throws(DriverError) {
        let response = try await engine.send(
          GetSessionState(sessionToken: token), timeout: Self.answerLimit)
        if response.status == .sessionNotExist { cause = .deviceRestarted }
      } catch {
        // NXP's chips do not answer before they have received their vendor command.
        if error.code == .noAnswer { cause = error }
      }
      // If the owner of the session has closed it meanwhile, its absence is expected.
      if let cause, sessions.contains(where: { $0 === record }) { return cause }
    }
    return nil
  }

  /// Checks at intervals whether frames arrive for ranging sessions. The task ends when there are
  /// no more sessions, so that a device without sessions causes no wakes.
  func watch(_ silence: Duration) -> Task<Void, Never> {
    Task { [weak self, clock] in
      while true {
        await clock.sleep(for: silence)
        guard !Task.isCancelled, let self, self.hasSessionsToWatch() else { return }
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
    let quiet = Duration.nanoseconds(Int64(clamping: clock.now()) - Int64(clamping: heard))
    return quiet > max(silence, interval * 10)
  }
}
