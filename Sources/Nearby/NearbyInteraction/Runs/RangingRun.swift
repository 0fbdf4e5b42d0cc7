// SPDX-License-Identifier: Apache-2.0
internal import System
internal import UCI
internal import UCIReference
internal import UWB
internal import UWBLink

/// One run of a session on a chip. It opens the device, ranges until the end, and removes the
/// session.
final class RangingRun: Sendable {
  private enum Signal: Sendable {
    case end(notifiesPeer: Bool)
    case device(DeviceEvent)
  }

  let number: Int
  private let plan: SessionPlan
  private let core: SessionCore
  private let registry: DeviceRegistry
  private let confirm: RunExecutor.Confirmation
  private struct State {
    var isOver = false
    /// The search for the accessory over Bluetooth LE, which may take half a minute.
    var search: Task<NIError?, Never>?
  }
  private let state = Locked(State())
  private let signals: AsyncStream<Signal>
  private let signal: AsyncStream<Signal>.Continuation

  init(
    _ number: Int, _ plan: SessionPlan, _ core: SessionCore, _ registry: DeviceRegistry,
    _ confirm: @escaping RunExecutor.Confirmation
  ) {
    (self.number, self.plan, self.core) = (number, plan, core)
    (self.registry, self.confirm) = (registry, confirm)
    (signals, signal) = AsyncStream.makeStream()
  }

  /// Ends the run in any phase. The run may first wait for an answer of the chip.
  func end(notifiesPeer: Bool) {
    state.withLock { state in
      state.isOver = true
      state.search?.cancel()
    }
    signal.yield(.end(notifiesPeer: notifiesPeer))
  }

  func run() async {
    defer { signal.finish() }
    let endpoint: LinkEndpoint
    switch DeviceChoice.endpoint(named: plan.device) {
    case .success(let found): endpoint = found
    case .failure(let error): return report(.failed(error))
    }
    if let peer = plan.bluetoothPeer, let problem = await search(peer) {
      return report(.failed(problem))
    }
    let key = DeviceRegistry.Key(endpoint)
    switch await registry.acquire(key) {
    case .success(let device):
      // The run may have ended while the device was being opened.
      if !state.withLock({ $0.isOver }) { await range(on: device, at: endpoint) }
      registry.release(key)
    case .failure(let error) where error.isTransient: await waitForDevice(at: endpoint, error)
    case .failure(let error): report(.failed(NIError(error)))
    }
  }

  private func report(_ report: SessionEvent.Report) {
    core.handle(.report(run: number, report))
  }

  /// Waits for a device that is absent or in use.
  private func waitForDevice(at endpoint: LinkEndpoint, _ error: DriverError) async {
    report(.unavailable(NIError(error)))
    let isThere = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        await ReconnectTarget(endpoint, connector: Link.serviceConnector).waitUntilAvailable()
      }
      group.addTask { [signals] in
        for await case .end in signals { break }
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
    if isThere { report(.available) }
  }

  /// Returns the error if the session cannot continue in the background.
  private func search(_ peer: SessionPlan.BluetoothPeer) async -> NIError? {
    let search = Task(executorPreference: SessionExecutor.shared) { [confirm] in
      await confirm(peer)
    }
    state.withLock { state in
      state.search = search
      if state.isOver { search.cancel() }
    }
    return await search.value
  }

  private func range(on device: UWBDevice, at endpoint: LinkEndpoint) async {
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
    case .success((let session, let made)): await range(session, made, at: endpoint)
    case .failure(let error): await handleFailure(error, of: device, hasStarted: false)
    }
  }

  /// Creates the session, without optional parameters that the firmware refuses.
  private func build(
    _ made: SessionPlan.Made, on device: UWBDevice
  ) async -> Result<(UWBSession, SessionPlan.Made), DriverError> {
    let built = await attempt { () async throws(DriverError) in
      try await device.makeSession(
        made.configuration, checked: plan.isChecked, awaitsRecovery: false)
    }
    guard case .failure(let error) = built, error.code == .parametersRefused,
      let plain = made.without(error.refusedParameters)
    else { return built.map { ($0, made) } }
    return await build(plain, on: device)
  }

  private func range(
    _ session: UWBSession, _ made: SessionPlan.Made, at endpoint: LinkEndpoint
  ) async {
    let measuring = measure(session)
    let started = await attempt { () async throws(DriverError) in
      try await session.start(awaitsRecovery: false)
    }
    let ending: Ending
    var record: RunRecord?
    switch started {
    case .success:
      record = RunRecord(plan, shareable: made.shareable, at: endpoint)
      core.keep(made.shareable, for: number)
      report(
        .started(
          needsData: made.shareable != nil,
          interval: .milliseconds(session.configuration.interval)))
      ending = await waitForEnd(of: session)
    case .failure(let error): ending = .failed(error)
    }
    measuring.cancel()
    if case .requested(notifiesPeer: true) = ending, made.suppressesInBandTermination {
      try? await enableInBandTermination(session)
    }
    // The session is closed even after a failure. A chip that was unplugged has already lost the
    // session.
    try? await session.close()
    record?.remove()
    switch ending {
    case .requested: break
    case .failed(let error): await handleFailure(error, of: session.device, hasStarted: true)
    case .lost(let cause): await waitForRecovery(NIError(cause), hasStarted: true)
    }
  }

  private enum Ending {
    /// The app or the session's own limits ended the run.
    case requested(notifiesPeer: Bool)
    case failed(DriverError)
    /// The driver has begun to recover the device.
    case lost(DriverError)
  }

  private func measure(_ session: UWBSession) -> RangingSubscription {
    if case .anchors = plan.target { return session.onRounds(core.anchors(of: number)) }
    let angles = AngleUse(Capabilities(session.device.capabilities))
    var settings = EstimationSettings()
    // The first round would be delayed by waiting for diagnostics, which may not come.
    settings.expectsDiagnostics = false
    return session.onEstimates(settings, core.estimates(of: number, angles))
  }

  private func waitForEnd(of session: UWBSession) async -> Ending {
    for await signal in signals {
      switch signal {
      case .end(let notifiesPeer): return .requested(notifiesPeer: notifiesPeer)
      case .device(.lost(let cause)): return .lost(cause)
      case .device(let event): if let error = event.end(of: session) { return .failed(error) }
      }
    }
    return .requested(notifiesPeer: false)
  }

  /// Enables the notification of controlees at the next stop.
  ///
  /// A chip that refuses this while it ranges is stopped and started for it: see
  /// `SessionPlan.Made`.
  private func enableInBandTermination(_ session: UWBSession) async throws(DriverError) {
    let parameters = [TLV(.inBandTerminationAttemptCount, [1])]
    do throws(DriverError) { return try await session.configure(parameters) } catch {}
    try await session.stop()
    try await session.configure(parameters)
    try await session.start(awaitsRecovery: false)
  }

  /// Reports a failure, and waits for the device if the failure is transient.
  private func handleFailure(
    _ error: DriverError, of device: UWBDevice, hasStarted: Bool
  ) async {
    if error.endReason == .stoppedInBand { return report(.peerEnded) }
    let cause = plan.failure(error, of: device)
    guard error.isTransient else { return report(.failed(cause)) }
    await waitForRecovery(cause, hasStarted: hasStarted)
  }

  /// Waits until the driver has recovered the device.
  private func waitForRecovery(_ cause: NIError, hasStarted: Bool) async {
    report(hasStarted ? .lost(cause) : .unavailable(cause))
    for await signal in signals {
      switch signal {
      case .end: return
      case .device(.recovered): return report(.available)
      default: break
      }
    }
  }
}
