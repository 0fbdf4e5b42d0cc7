// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Logging
internal import UCI

// Sessions on the chip: the same steps for a caller and for the recovery.
extension DeviceCore {
  var profile: DeviceProfile { engine.profile }

  /// What there is to do about a session that is no longer wanted.
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

  /// Creates a session on the chip and configures it; the chip reports IDLE when it could start.
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
    // Nobody waits for it any more.
    if sender == .caller, Task.isCancelled { throw .cancelled }
    // Strict firmware refuses parameters before it has said that the session is there.
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
    try await requestDiagnostics(record, from: sender)
  }

  /// SESSION_INIT, at most twice: only after the chip has shown that it did not do it.
  private func initialise(
    _ id: UInt32, _ type: SessionType, _ sender: CommandEngine.Sender
  ) async throws(DriverError) -> UInt32 {
    let known = Set(engine.chip.sessions.keys)
    let command = SessionInit(sessionID: id, type: type)
    do throws(DriverError) {
      return try await engine.request(command, from: sender).handle ?? id
    } catch {
      guard error.code == .noAnswer else { throw error }
      // The chip may have done it, and only the answer was lost or is late: its report names the
      // session.
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

  /// The same for a caller.
  ///
  /// - Parameter awaitsRecovery: whether a device that is lost meanwhile is waited for.
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
      // It may make it yet.
      let isOpen = error.code == .noAnswer || error.code == .closed
      if isOpen, !record.isOnChip { state.withLock { $0.remaining = error } }
      throw error
    }
  }

  /// Starts ranging for a caller and waits until the chip reports ACTIVE.
  ///
  /// - Parameter awaitsRecovery: whether a device that is lost meanwhile is waited for.
  func start(_ record: SessionRecord, awaitsRecovery: Bool) async throws(DriverError) {
    // One that was ranging is started by the recovery.
    if recovery != nil, record.shouldResume { throw .recovering }
    // What it was called on the chip may now be another session.
    let isClosed = state.withLock { state in
      guard case .running = state.phase else { return false }
      return !state.sessions.contains { $0 === record }
    }
    if isClosed { throw .sessionEnded(.deinitialised, .managementCommand) }
    try await attempt(
      record, awaitsRecovery: awaitsRecovery, isDone: { engine.isActive(record.token) }
    ) { () async throws(DriverError) in try await self.start(record, from: .caller) }
  }

  /// Calls `body`, and again each time the device was lost meanwhile and has been recovered.
  ///
  /// - Parameter isDone: whether the recovery has done the same, which it has not if it began before
  ///   `body` did.
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
      // Not again before the chip has said that it did not do it.
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

  /// Notes, before streams end, why a session ranges no longer.
  func rangingEnded(_ status: SessionStatusNotification) {
    for record in sessions where record.tokenOnChip == status.sessionToken {
      record.rangingEnded(status)
    }
  }

  /// Stops ranging and waits until the chip reports IDLE. Does nothing when it is not ranging.
  func stop(_ record: SessionRecord) async throws(DriverError) {
    // Streams that wait for the device to come back would wait for ever.
    if record.cancelResume() { router.finish(record, nil) }
    // Several may stop it, and strict firmware refuses to stop what it has stopped.
    await record.stopping.lock()
    defer { record.stopping.unlock() }
    let token = record.token
    guard engine.isActive(token) else { return }
    record.willStop()
    let response = try await engine.send(SessionStop(sessionToken: token))
    // It may have ended by itself just before; what counts is that it no longer ranges.
    let patience = response.status == .ok ? profile.stateTimeout : Self.refusalMilliseconds
    let chip = try await engine.wait(milliseconds: patience) {
      $0.sessions[token]?.state != .active && !$0.endingSessions.contains(token)
    }
    guard chip != nil else {
      throw response.status == .ok
        ? .stateNotReached(expected: .idle, last: .active)
        : .refused(command: "SESSION_STOP_CMD", response.status)
    }
  }

  /// How long a chip that refuses to stop a session may take to report that it has ended.
  private static let refusalMilliseconds = 300

  /// Stops ranging and removes the session from the chip. Does nothing the second time.
  func end(_ record: SessionRecord) async throws(DriverError) {
    guard case .removeFromChip = unregister(record) else { return finish(record, nil) }
    var failure: DriverError?
    do throws(DriverError) { try await stop(record) } catch { failure = error }
    defer {
      finish(record, failure)
      record.markRemoved()
      engine.forget(record.token)
    }
    // A device that comes back comes without this session; whether it is back already is chance.
    if let failure, recovery != nil, Self.isLoss(failure) { throw failure }
    // A chip that answers neither this nor a question is not asked for more.
    if let failure, failure.code == .noAnswer {
      let question = GetSessionState(sessionToken: record.token)
      do { _ = try await engine.send(question, timeout: Self.answerLimit) } catch {
        throw leaving(failure)
      }
    }
    // A session that is removed has stopped, whatever the chip said to that.
    do throws(DriverError) { try await remove(record.token) } catch {
      throw leaving(
        failure ?? (error == .recovering ? engine.interruption ?? error : error))
    }
    failure = nil
  }

  /// Notes that a session may still be on the chip, unless that has lost what it had.
  private func leaving(_ error: DriverError) -> DriverError {
    if !Self.isLoss(error) { state.withLock { $0.remaining = error } }
    return error
  }

  /// Whether an error says that the chip has lost what it had.
  private static func isLoss(_ error: DriverError) -> Bool {
    switch error.code {
    case .link, .deviceError, .deviceFailed, .deviceRestarted, .recovering, .otherDevice: true
    default: false
    }
  }

  /// How long a chip that has removed a session may take to report it.
  private static let removalMilliseconds = 500

  /// SESSION_DEINIT. A session that is no longer there is removed as well.
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
      // It does not say.
      default: throw error
      }
    }
    guard status == .ok || status == .sessionNotExist else {
      throw .refused(command: "SESSION_DEINIT_CMD", status)
    }
    if status == .ok {
      // It is gone. Google's pica does not report that.
      _ = try await engine.wait(milliseconds: Self.removalMilliseconds) {
        $0.sessions[token]?.state == .deinitialised
      }
    }
  }

  /// Removes every session, as far as the chip lets it.
  func endAll() async {
    for record in sessions {
      do throws(DriverError) { try await end(record) } catch {
        logger.warning("session not closed", metadata: ["cause": "\(error)"])
      }
    }
  }
}
