// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import UCI
internal import UCIReference
internal import UWB
internal import UWBLink

/// One run of a session on a chip: opens the device, ranges, waits for what happens, tidies up.
final class ChipRun: Sendable {
  private enum Signal: Sendable {
    case end(tellPeer: Bool)
    case device(DeviceEvent)
  }

  let number: Int
  private let plan: SessionPlan
  private let core: SessionCore
  private let registry: DeviceRegistry
  private let isOver = Locked(false)
  private let signals: AsyncStream<Signal>
  private let signal: AsyncStream<Signal>.Continuation

  init(_ number: Int, _ plan: SessionPlan, _ core: SessionCore, _ registry: DeviceRegistry) {
    self.number = number
    self.plan = plan
    self.core = core
    self.registry = registry
    (signals, signal) = AsyncStream.makeStream()
  }

  /// Ends it, whatever it is at. It may take until the chip has answered.
  func end(tellPeer: Bool) {
    isOver.withLock { $0 = true }
    signal.yield(.end(tellPeer: tellPeer))
  }

  /// From the beginning to the end.
  func perform() async {
    defer { signal.finish() }
    let endpoint: LinkEndpoint
    switch DeviceChoice.endpoint(named: plan.device) {
    case .success(let found): endpoint = found
    case .failure(let error): return report(.failed(error))
    }
    let place = DeviceRegistry.Place(endpoint)
    switch await registry.acquire(place) {
    case .success(let device):
      // Ended while the device was opened: it is not even tried.
      if !isOver.withLock({ $0 }) { await range(on: device) }
      registry.release(place)
    case .failure(let error) where error.mayPass: await wait(for: endpoint, because: error)
    case .failure(let error): report(.failed(NIError(error)))
    }
  }

  private func report(_ report: SessionEvent.Report) {
    core.handle(.report(run: number, report))
  }

  /// The device is not there yet, or somebody else has it.
  private func wait(for endpoint: LinkEndpoint, because error: DriverError) async {
    report(.unavailable(NIError(error)))
    let isThere = await withTaskGroup(of: Bool.self) { group in
      // Opened to see that it can be, and closed again.
      group.addTask { await LinkReturn(of: endpoint).open() != nil }
      group.addTask { [signals] in
        for await case .end in signals { break }
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
    if isThere { report(.available) }
  }

  // MARK: on a device

  private func range(on device: UWBDevice) async {
    let events = device.events
    let forwarding = Task(executorPreference: SessionExecutor.shared) { [signal] in
      for await event in events { signal.yield(.device(event)) }
    }
    defer { forwarding.cancel() }
    let made: SessionPlan.Made
    switch plan.make(for: device) {
    case .success(let value): made = value
    case .failure(let error): return report(.failed(error))
    }
    switch await build(made, on: device) {
    case .success((let session, let made)): await range(session, made)
    case .failure(let error): await give(up: error, device, isUnderWay: false)
    }
  }

  /// A firmware that knows nothing of diagnostics, or of quiet ends, ranges without them.
  private func build(
    _ made: SessionPlan.Made, on device: UWBDevice
  ) async -> Result<(UWBSession, SessionPlan.Made), DriverError> {
    let built = await outcome { () async throws(DriverError) in
      try await device.makeSession(made.configuration, checked: plan.isChecked)
    }
    guard case .failure(let error) = built, error.code == .parametersRefused,
      let plain = made.without(error.refusedParameters)
    else { return built.map { ($0, made) } }
    return await build(plain, on: device)
  }

  private func range(_ session: UWBSession, _ made: SessionPlan.Made) async {
    let measuring = measure(session)
    let started = await outcome { () async throws(DriverError) in
      try await plan.prepare(session)
      try await session.start()
    }
    let ending: Ending
    switch started {
    case .success:
      core.keep(made.shareable, for: number)
      report(.started(needsData: made.shareable != nil))
      ending = await stay(session)
    case .failure(let error): ending = .failed(error)
    }
    measuring.cancel()
    if case .wanted(tellPeer: true) = ending, made.endsQuietly { try? await setLoud(session) }
    // Tells the chip whatever became of it; a chip that is gone has lost it anyway.
    try? await session.close()
    switch ending {
    case .wanted: break
    case .failed(let error): await give(up: error, session.device, isUnderWay: true)
    case .lost(let cause): await wait(because: NIError(cause), isUnderWay: true)
    }
  }

  /// How ranging ended.
  private enum Ending {
    /// Somebody here asked for it.
    case wanted(tellPeer: Bool)
    case failed(DriverError)
    /// The driver is looking for the device, whatever the cause.
    case lost(DriverError)
  }

  private func measure(_ session: UWBSession) -> RangingSubscription {
    if case .anchors = plan.target { return session.onRounds(core.anchors(of: number)) }
    let angles = AngleUse(Capabilities(session.device.capabilities))
    var settings = EstimationSettings()
    // The first round is not held up by diagnostics that may not come.
    settings.expectsDiagnostics = false
    return session.onEstimates(settings, core.estimates(of: number, angles))
  }

  /// Until it ends.
  private func stay(_ session: UWBSession) async -> Ending {
    for await signal in signals {
      switch signal {
      case .end(let tellPeer): return .wanted(tellPeer: tellPeer)
      case .device(.sessionStatus(let status))
      where status.sessionToken == session.token && status.state != .active
        && status.reason != .managementCommand:
        return .failed(.sessionEnded(status.state, status.reason))
      case .device(.lost(let cause)): return .lost(cause)
      case .device(.disconnected(let cause)): return .failed(.link(cause))
      case .device(.sessionLost(session.configuration.sessionID, let cause)):
        return .failed(cause)
      case .device: break
      }
    }
    return .wanted(tellPeer: false)
  }

  /// The next end is told to the controlees. Where the chip does not take that while it ranges, it
  /// takes a stop and a start: see `SessionPlan.Made`.
  private func setLoud(_ session: UWBSession) async throws(DriverError) {
    let loud = [TLV(.inBandTerminationAttemptCount, [1])]
    do throws(DriverError) { return try await session.configure(loud) } catch {}
    try await session.stop()
    try await session.configure(loud)
    try await session.start()
  }

  /// It failed; where the device is only lost, waits for it.
  private func give(up error: DriverError, _ device: UWBDevice, isUnderWay: Bool) async {
    if error.endReason == .stoppedInBand { return report(.peerEnded) }
    let cause = NIError(error, in: device.dialect)
    guard error.mayPass else { return report(.failed(cause)) }
    await wait(because: cause, isUnderWay: isUnderWay)
  }

  /// Until the driver has found the device again.
  private func wait(because cause: NIError, isUnderWay: Bool) async {
    report(isUnderWay ? .lost(cause) : .unavailable(cause))
    for await signal in signals {
      switch signal {
      case .end: return
      case .device(.recovered): return report(.available)
      default: break
      }
    }
  }
}

/// As a value: `do` and `catch` of typed errors in tasks have crashed the compiler.
private func outcome<Value: Sendable>(
  _ body: () async throws(DriverError) -> Value
) async -> Result<Value, DriverError> {
  do throws(DriverError) { return .success(try await body()) } catch { return .failure(error) }
}
