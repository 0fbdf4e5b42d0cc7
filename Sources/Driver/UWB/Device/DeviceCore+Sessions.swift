// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Logging
internal import UCI

// Sessions on the chip. Callers and the recovery take the same steps.
extension DeviceCore {
  var profile: DeviceProfile { engine.profile }

  /// The action for a session that its owner no longer needs.
  enum SessionRemoval { case nothing, removeFromChip, leaveToRecovery }

  func unregister(_ record: SessionRecord, closing: Bool = true) -> SessionRemoval {
    state.withLock { state in
      guard let place = state.sessions.firstIndex(where: { $0 === record }) else { return .nothing }
      state.sessions.remove(at: place)
      guard case .recovering = state.phase, closing else {
        return record.isOnChip ? .removeFromChip : .nothing
      }
      state.closed.append(record)
      return .leaveToRecovery
    }
  }

  var remaining: DriverError? { state.withLock { $0.remaining } }

  var sessions: [SessionRecord] { state.withLock { $0.sessions } }

  /// Creates a session on the chip and configures it. Returns when the chip reports IDLE: ready to
  /// start.
  func build(
    _ record: SessionRecord, from sender: CommandEngine.Sender = .caller
  ) async throws(DriverError) {
    let id = record.configuration.sessionID
    let token: UInt32
    if let profile = record.profile {
      token = try await engine.request(profile, from: sender).handle ?? id
    } else {
      token = try await initialise(id, record.configuration.type, sender)
    }
    record.assign(token: token)
    router.sessionsChanged()
    // A cancelled caller no longer waits for the session.
    if sender == .caller, Task.isCancelled { throw .cancelled }
    // Strict firmware refuses parameters until it has reported the session.
    let said = try await engine.wait(milliseconds: profile.stateTimeout) {
      $0.sessions[token].map { $0.state != .deinitialised } ?? false
    }
    if said == nil { logger.warning("the chip did not report the new session") }
    if record.profile == nil {
      try await configure(record, record.parameters(for: engine.dialect.generation), sender)
    }
    let chip = try await engine.wait(milliseconds: profile.stateTimeout) {
      $0.sessions[token]?.state == .idle
    }
    guard chip != nil else {
      throw .stateNotReached(expected: .idle, last: engine.chip.sessions[token]?.state)
    }
    try await sendRounds(record, from: sender)
    try await requestDiagnostics(record, from: sender)
  }

  /// Sends SESSION_INIT. Sends it a second time only if the chip has not created the session.
  private func initialise(
    _ id: UInt32, _ type: SessionType, _ sender: CommandEngine.Sender
  ) async throws(DriverError) -> UInt32 {
    let known = Set(engine.chip.sessions.keys)
    let command = SessionInit(sessionID: id, type: type)
    do throws(DriverError) {
      return try await engine.request(command, from: sender).handle ?? id
    } catch {
      guard error.code == .noAnswer else { throw error }
      // The chip may have created the session although its answer was lost or is late. Its report
      // then has the token of the session.
      let new = { @Sendable (chip: CommandEngine.ChipState) in
        chip.sessions.first { !known.contains($0.key) && $0.value.state == .initialised }?.key
      }
      if let new = new(engine.chip) { return new }
      let count = try await engine.request(GetSessionCount(), from: sender).count
      if let count, Int(count) == sessions.count(where: { $0.isOnChip }) {
        return try await engine.request(command, from: sender).handle ?? id
      }
      let chip = try await engine.wait(milliseconds: profile.stateTimeout) { new($0) != nil }
      guard let new = chip.flatMap(new) else { throw error }
      return new
    }
  }

  func configure(
    _ record: SessionRecord, _ parameters: [TLV], _ sender: CommandEngine.Sender = .caller
  ) async throws(DriverError) {
    let response = try await engine.send(
      SetAppConfig(sessionToken: record.token, parameters: parameters), from: sender)
    guard response.status == .ok else {
      throw .parametersRefused(response.status, response.refused ?? [])
    }
  }

  /// Creates a session for a caller.
  ///
  /// - Parameter awaitsRecovery: whether to wait for the recovery if the device is lost during the
  ///   call.
  func make(_ record: SessionRecord, awaitsRecovery: Bool) async throws(DriverError) {
    state.withLock { state in
      state.sessions.append(record)
      if case .ended = state.phase { return }
      if let recovery, state.watch == nil { state.watch = watch(recovery.watchdogInterval) }
    }
    do throws(DriverError) {
      try await attempt(record, awaitsRecovery: awaitsRecovery, isDone: { record.isOnChip }) {
        () async throws(DriverError) in try await self.build(record)
      }
    } catch {
      // The chip may still create the session later.
      let isOpen = error.code == .noAnswer || error.code == .closed
      if isOpen, !record.isOnChip { state.withLock { $0.remaining = error } }
      throw error
    }
  }

  /// Starts ranging for a caller and waits until the chip reports ACTIVE.
  ///
  /// - Parameter awaitsRecovery: whether to wait for the recovery if the device is lost during the
  ///   call.
  func start(_ record: SessionRecord, awaitsRecovery: Bool) async throws(DriverError) {
    // The recovery starts sessions that were ranging, so the caller must not.
    if recovery != nil, record.shouldResume { throw .recovering }
    // A closed session's token may already be the token of another session on the chip.
    let isClosed = state.withLock { state in
      guard case .running = state.phase else { return false }
      return !state.sessions.contains { $0 === record }
    }
    if isClosed { throw .sessionEnded(.deinitialised, .managementCommand) }
    try await attempt(
      record, awaitsRecovery: awaitsRecovery, isDone: { engine.isActive(record.token) }
    ) { () async throws(DriverError) in try await self.start(record, from: .caller) }
  }

  /// Calls `body`. Calls it again each time the device was lost during the call and has been
  /// recovered.
  ///
  /// - Parameter isDone: whether the recovery has already done the work of `body`. It has not if it
  ///   began before `body`.
  private func attempt(
    _ record: SessionRecord, awaitsRecovery: Bool, isDone: () -> Bool,
    _ body: () async throws(DriverError) -> Void
  ) async throws(DriverError) {
    repeat {
      let losses = state.withLock { $0.losses }
      do throws(DriverError) { return try await body() } catch {
        guard awaitsRecovery, error != .cancelled else { throw error }
        try await waitForRecovery(of: record, losses, error)
      }
    } while !isDone()
  }

  func start(
    _ record: SessionRecord, from sender: CommandEngine.Sender
  ) async throws(DriverError) {
    let token = record.token
    record.willStart()
    engine.forgetCause(token)
    let command = SessionStart(sessionToken: token)
    do throws(DriverError) {
      try await engine.request(command, from: sender)
    } catch {
      guard error.code == .noAnswer else { throw error }
      // The command is repeated only if the chip reports IDLE: it has not carried it out.
      let state = try await engine.request(GetSessionState(sessionToken: token), from: sender).state
      if state == .idle { try await engine.request(command, from: sender) }
    }
    let chip = try await engine.wait(milliseconds: profile.stateTimeout) { chip in
      guard let status = chip.sessions[token] else { return false }
      return status.state == .active || status.state == .deinitialised
        || status.reason != .managementCommand
    }
    guard let status = chip?.sessions[token] else {
      throw .stateNotReached(expected: .active, last: engine.chip.sessions[token]?.state)
    }
    guard status.state == .active else { throw .sessionEnded(status.state, status.reason) }
  }

  /// Records the reason why a session no longer ranges, before its streams end.
  func rangingEnded(_ status: SessionStatusNotification) {
    for record in sessions where record.tokenOnChip == status.sessionToken {
      record.rangingEnded(status)
    }
  }

  /// Stops ranging and waits until the chip reports IDLE. Does nothing when it is not ranging.
  func stop(_ record: SessionRecord) async throws(DriverError) {
    // Streams that wait for the recovery would never end otherwise.
    if record.cancelResume() { router.finish(record, nil) }
    // Strict firmware refuses to stop a stopped session, so several callers take turns.
    await record.stopping.lock()
    defer { record.stopping.unlock() }
    let token = record.token
    guard engine.isActive(token) else { return }
    record.willStop()
    let response = try await engine.send(SessionStop(sessionToken: token))
    // After a refusal, the session may have ended by itself just before.
    let patience = response.status == .ok ? profile.stateTimeout : Self.refusalMilliseconds
    let chip = try await engine.wait(milliseconds: patience) { $0.hasStopped(token) }
    guard chip != nil else {
      throw response.status == .ok
        ? .stateNotReached(expected: .idle, last: .active)
        : .refused(command: "SESSION_STOP_CMD", response.status)
    }
  }

  /// Milliseconds to wait for the report of a session's end after the chip refused to stop it.
  private static let refusalMilliseconds = 300

  /// Stops ranging and removes the session from the chip. Does nothing if called again.
  func end(_ record: SessionRecord) async throws(DriverError) {
    guard case .removeFromChip = unregister(record) else { return finish(record, nil) }
    var failure: DriverError?
    do throws(DriverError) { try await stop(record) } catch { failure = error }
    defer {
      finish(record, failure)
      record.markRemoved()
      engine.forget(record.token)
    }
    // After a loss, the recovered device does not have this session, so there is nothing to remove.
    if let failure, recovery != nil, Self.isLoss(failure) { throw failure }
    // A chip that answers neither the command nor a query gets no further commands.
    if let failure, failure.code == .noAnswer {
      let question = GetSessionState(sessionToken: record.token)
      do { _ = try await engine.send(question, timeout: Self.answerLimit) } catch {
        throw leaving(failure)
      }
    }
    // Removing a session also stops it, so earlier failures no longer matter.
    do throws(DriverError) { try await remove(record.token) } catch {
      throw leaving(
        failure ?? (error == .recovering ? engine.interruption ?? error : error))
    }
    failure = nil
  }

  /// Records that a session may still be on the chip, unless the chip has lost its sessions.
  private func leaving(_ error: DriverError) -> DriverError {
    if !Self.isLoss(error) { state.withLock { $0.remaining = error } }
    return error
  }

  /// Returns whether an error means that the chip has lost its sessions.
  private static func isLoss(_ error: DriverError) -> Bool {
    switch error.code {
    case .link, .deviceError, .deviceFailed, .deviceRestarted, .recovering, .otherDevice: true
    default: false
    }
  }

  /// Milliseconds to wait for a chip's report that it has removed a session.
  private static let removalMilliseconds = 500

  /// Sends SESSION_DEINIT. A session that no longer exists counts as removed.
  func remove(
    _ token: UInt32, from sender: CommandEngine.Sender = .caller
  ) async throws(DriverError) {
    var status: Status
    do throws(DriverError) {
      status = try await engine.send(SessionDeinit(sessionToken: token), from: sender).status
    } catch {
      guard error.code == .noAnswer else { throw error }
      status = try await engine.send(GetSessionState(sessionToken: token), from: sender).status
      switch status {
      case .ok:
        status = try await engine.send(SessionDeinit(sessionToken: token), from: sender).status
      case .sessionNotExist: break
      // Any other status does not show whether the session was removed.
      default: throw error
      }
    }
    guard status == .ok || status == .sessionNotExist else {
      throw .refused(command: "SESSION_DEINIT_CMD", status)
    }
    if status == .ok {
      // The session is removed even without this report, which Google's pica does not send.
      _ = try await engine.wait(milliseconds: Self.removalMilliseconds) {
        $0.sessions[token]?.state == .deinitialised
      }
    }
  }

  /// Removes all sessions for which the chip accepts the commands.
  func endAll() async {
    for record in sessions {
      do throws(DriverError) { try await end(record) } catch {
        logger.warning("session not closed", metadata: ["cause": "\(error)"])
      }
    }
  }
}
