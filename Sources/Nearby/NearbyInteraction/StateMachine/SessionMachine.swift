// SPDX-License-Identifier: Apache-2.0

/// The behaviour of a session as a value: events go in, effects come out. Time is a parameter, so
/// that tests can play any sequence of events.
///
/// ```
///            run                 started               inactivity, peer ended
/// ready ───────────▶ starting ───────────▶ running ────────────────────────────▶ removed
///                       │ unavailable        │ device lost, machine slept            │ run
///                       │ background         │ background                            ▼
///                    suspended ◀─────────────┘                                    starting
///                       │ device is back, foreground
///                       ▼            run
///                 suspensionEnded ─────────▶ starting            pause: paused ── run ▶ starting
/// ```
///
/// `run` and `invalidate` apply in every state. `failed` and the longest time-outs lead to the
/// final state `invalidated`.
struct SessionMachine: Sendable, Equatable {
  enum Phase: Sendable, Equatable {
    case ready
    case starting
    case running
    case paused
    /// The object was lost. The app may run the session again.
    case removed
    /// There is no device at the moment, or the program is in the background.
    case suspended
    /// The session could range, but the app has not run it again.
    case suspensionEnded
    case invalidated
  }

  enum Timer: Int, Sendable, Equatable, CaseIterable {
    case absence, inactivity, suspension, activity
  }

  private(set) var timeouts: NISession.Timeouts
  private(set) var phase = Phase.ready
  /// The number of the current run. Reports of earlier runs are ignored.
  private(set) var run = 0
  private(set) var isInBackground = false
  /// Whether the last run ranges with an object, for which time-outs apply.
  private var hasObject = true
  /// Whether the last run also ranges while the program is in the background.
  private var endures = false
  /// The time when the object was last measured in this run; nil if not yet.
  private var lastMeasured: Duration?
  /// The time without a measurement after which the object is out of range.
  private var absenceLimit = Duration.seconds(1)
  private var startedAt = Duration.zero
  /// The cause of the last suspension; nil if the session waits only for the foreground.
  private var absence: NIError?
  private var suspendedAt = Duration.zero

  init(timeouts: NISession.Timeouts = .init()) { self.timeouts = timeouts }

  /// Returns whether a run is the current run and ranges.
  func isRanging(_ run: Int) -> Bool { phase == .running && run == self.run }

  /// Changes the time limits, including running limits.
  ///
  /// - Returns: the effects, in order.
  mutating func set(_ timeouts: NISession.Timeouts, at now: Duration) -> [SessionEffect] {
    self.timeouts = timeouts
    switch phase {
    case .running, .suspended: return [.stopTimers] + timers(now)
    default: return []
    }
  }

  /// Returns the timers of this phase, each with its remaining time.
  private func timers(_ now: Duration) -> [SessionEffect] {
    switch phase {
    case .running:
      let inactivity =
        hasObject ? [SessionEffect.set(.inactivity, max(.zero, inactivityLeft(now)))] : []
      let absence =
        hasObject && lastMeasured != nil ? [SessionEffect.set(.absence, absenceLimit)] : []
      guard timeouts.activity != nil else { return inactivity + absence }
      return inactivity + absence + [.set(.activity, max(.zero, activityLeft(now)))]
    case .suspended: return [.set(.suspension, max(.zero, suspensionLeft(now)))]
    default: return []
    }
  }

  private func inactivityLeft(_ now: Duration) -> Duration {
    let limit = lastMeasured == nil ? timeouts.firstMeasurement : timeouts.inactivity
    return limit - (now - (lastMeasured ?? startedAt))
  }

  private func activityLeft(_ now: Duration) -> Duration {
    (timeouts.activity ?? .seconds(Int64(Int32.max))) - (now - startedAt)
  }

  private func suspensionLeft(_ now: Duration) -> Duration {
    timeouts.suspension - (now - suspendedAt)
  }

  /// Handles an event.
  ///
  /// - Parameter now: the time of a monotonic clock.
  /// - Returns: the effects, in order.
  mutating func handle(_ event: SessionEvent, at now: Duration) -> [SessionEffect] {
    if phase == .invalidated { return handleAfterEnd(event) }
    switch event {
    case .run(let hasObject, let endures, let problem):
      (self.hasObject, self.endures) = (hasObject, endures)
      return begin(problem, now)
    case .pause: return pause()
    case .background(let isInBackground): return move(toBackground: isInBackground, now)
    case .invalidate:
      let wasOnChip = isOnChip
      phase = .invalidated
      return [.stopTimers] + (wasOnChip ? [.end(notifiesPeer: true)] : [])
    case .slept:
      guard phase == .starting || phase == .running else { return [] }
      phase = .suspensionEnded
      return [.stopTimers, .end(notifiesPeer: false), .call(.suspended), .call(.suspensionEnded)]
    case .timer(let timer): return elapsed(timer, now)
    case .report(let run, let report):
      return run == self.run ? handle(report, now) : []
    }
  }

  // MARK: calls of the app

  private mutating func begin(_ problem: NIError?, _ now: Duration) -> [SessionEffect] {
    var effects = [SessionEffect.stopTimers]
    if isOnChip { effects.append(.end(notifiesPeer: false)) }
    run += 1
    if let problem {
      phase = .invalidated
      return effects + [.call(.invalidated(problem))]
    }
    lastMeasured = nil
    if mustRest { return effects + suspend(nil, now) }
    phase = .starting
    return effects + [.begin(run: run)]
  }

  private var mustRest: Bool { isInBackground && !endures }

  private mutating func move(toBackground isInBackground: Bool, _ now: Duration) -> [SessionEffect]
  {
    self.isInBackground = isInBackground
    switch phase {
    case .starting where mustRest, .running where mustRest:
      return [.end(notifiesPeer: false)] + suspend(nil, now)
    case .suspended where !isInBackground && absence == nil:
      phase = .suspensionEnded
      return [.stopTimers, .call(.suspensionEnded)]
    default: return []
    }
  }

  /// Suspends the session.
  ///
  /// - Parameter cause: the error of the missing device; nil if the program is in the background.
  private mutating func suspend(_ cause: NIError?, _ now: Duration) -> [SessionEffect] {
    phase = .suspended
    (absence, suspendedAt) = (cause, now)
    return [.stopTimers, .call(.suspended)] + timers(now)
  }

  private mutating func pause() -> [SessionEffect] {
    guard phase == .starting || phase == .running else { return [] }
    phase = .paused
    return [.stopTimers, .end(notifiesPeer: false)]
  }

  /// Handles an event after the end. Only `run` has an effect, which is the report of the end.
  private func handleAfterEnd(_ event: SessionEvent) -> [SessionEffect] {
    guard case .run(_, _, let problem) = event else { return [] }
    let ended = NIError(
      .sessionFailed, reason: "The session has been invalidated.",
      recovery: "Create a new NISession.")
    return [.call(.invalidated(problem ?? ended))]
  }

  // MARK: reports of the chip

  private mutating func handle(_ report: SessionEvent.Report, _ now: Duration) -> [SessionEffect] {
    switch (report, phase) {
    case (.started(let needsData, let interval), .starting):
      phase = .running
      absenceLimit = max(.seconds(1), interval * 3)
      startedAt = now
      return [.call(.started)] + (needsData ? [.call(.shareable)] : []) + timers(now)
    case (.measured, .running):
      // The first measurement starts the other time-out. Further measurements only postpone its
      // end.
      let isFirst = lastMeasured == nil
      lastMeasured = now
      guard isFirst, hasObject else { return [] }
      return [.set(.inactivity, timeouts.inactivity), .set(.absence, absenceLimit)]
    case (.unavailable(let cause), .starting), (.lost(let cause), .running),
      (.lost(let cause), .starting):
      return suspend(cause, now)
    case (.available, .suspended) where mustRest:
      absence = nil
      return [.end(notifiesPeer: false)]
    case (.available, .suspended):
      phase = .suspensionEnded
      return [.stopTimers, .end(notifiesPeer: false), .call(.suspensionEnded)]
    case (.peerEnded, .running), (.peerEnded, .starting): return remove(.peerEnded)
    case (.failed(let problem), _) where isOnChip: return fail(problem)
    default: return []
    }
  }

  private mutating func elapsed(_ timer: Timer, _ now: Duration) -> [SessionEffect] {
    switch (timer, phase) {
    case (.inactivity, .running):
      // The object may have been measured since the timer was set.
      let left = inactivityLeft(now)
      return left > .zero ? [.set(.inactivity, left)] : remove(.timeout)
    case (.absence, .running):
      let left = absenceLimit - (now - (lastMeasured ?? now))
      if left > .zero { return [.set(.absence, left)] }
      return [.call(.outOfRange), .set(.absence, absenceLimit)]
    case (.activity, .running):
      let left = activityLeft(now)
      guard left <= .zero else { return [.set(.activity, left)] }
      return fail(
        NIError(
          .resourceUsageTimeout,
          reason: "The session ranged for as long as NISession.timeouts.activity allows.",
          recovery: "Run it again in time, or set that limit to nil."))
    case (.suspension, .suspended):
      let left = suspensionLeft(now)
      guard left <= .zero else { return [.set(.suspension, left)] }
      let inBackground = NIError(
        .sessionFailed, reason: "The program was in the background for too long.",
        recovery:
          "Use init(accessoryData:bluetoothPeerIdentifier:), whose sessions also range there.")
      return fail(
        absence?.with(.sessionFailed, "The device was unavailable for too long.") ?? inBackground)
    default: return []
    }
  }

  // MARK: ends

  private mutating func remove(_ reason: NINearbyObject.RemovalReason) -> [SessionEffect] {
    phase = .removed
    return [.stopTimers, .end(notifiesPeer: false)] + (hasObject ? [.call(.removed(reason))] : [])
  }

  private mutating func fail(_ problem: NIError) -> [SessionEffect] {
    let wasOnChip = isOnChip
    phase = .invalidated
    return [.stopTimers] + (wasOnChip ? [.end(notifiesPeer: true)] : [])
      + [.call(.invalidated(problem))]
  }

  /// Whether the last run is or may be on the chip, or waits for a device.
  private var isOnChip: Bool {
    switch phase {
    case .starting, .running, .suspended: true
    case .ready, .paused, .removed, .suspensionEnded, .invalidated: false
    }
  }
}
