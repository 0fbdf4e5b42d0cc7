// SPDX-License-Identifier: Apache-2.0

/// What a session does, as a value: an event goes in, the effects of it come out. Time is a number, so
/// every sequence of events can be played in a test.
///
/// ```
///            run                 started              silent too long, peer ended
/// ready ───────────▶ starting ───────────▶ running ────────────────────────────▶ removed
///                       │ unavailable        │ device lost, machine slept            │ run
///                       ▼                    ▼                                       ▼
///                    suspended ◀─────────────┘                                    starting
///                       │ device is back
///                       ▼            run
///                 suspensionEnded ─────────▶ starting            pause: paused ── run ▶ starting
/// ```
///
/// Every state leaves with `run`, `pause` or `invalidate`; `failed` and the longest times lead to
/// `invalidated`, which nothing leaves.
struct SessionMachine: Sendable, Equatable {
  enum Phase: Sendable, Equatable {
    /// Not run yet.
    case ready
    /// The chip is being asked.
    case starting
    /// The chip ranges.
    case running
    /// By the app.
    case paused
    /// The object is gone; the app may run the session again.
    case removed
    /// There is no device for now.
    case suspended
    /// The device is back, and the app has not run the session again.
    case suspensionEnded
    case invalidated
  }

  /// Times that something is waited for.
  enum Timer: Int, Sendable, Equatable, CaseIterable {
    case silence, suspension, activity
  }

  private(set) var timeouts: NISession.Timeouts
  private(set) var phase = Phase.ready
  /// Counts the runs. What is heard of an earlier one is of no interest any more.
  private(set) var run = 0
  /// The last run ranges with an object, which can fall silent.
  private var hasObject = true
  /// When the object was heard last in this run; nil: not yet.
  private var heard: Duration?
  /// When the run began to range.
  private var startedAt = Duration.zero
  /// Why there is no device, and since when.
  private var absence: NIError?
  private var suspendedAt = Duration.zero

  init(timeouts: NISession.Timeouts = .init()) { self.timeouts = timeouts }

  /// Whether measurements of a run are of interest.
  func isRanging(_ run: Int) -> Bool { phase == .running && run == self.run }

  /// Other times from now on, also for what is being waited for.
  ///
  /// - Returns: what is to be done, in this order.
  mutating func set(_ timeouts: NISession.Timeouts, at now: Duration) -> [SessionEffect] {
    self.timeouts = timeouts
    switch phase {
    case .running, .suspended: return stopTimers + timers(now)
    default: return []
    }
  }

  /// What is waited for in this phase, each for what is left of its time.
  private func timers(_ now: Duration) -> [SessionEffect] {
    switch phase {
    case .running:
      let silence = hasObject ? [SessionEffect.set(.silence, max(.zero, silenceLeft(now)))] : []
      guard timeouts.activity != nil else { return silence }
      return silence + [.set(.activity, max(.zero, activityLeft(now)))]
    case .suspended: return [.set(.suspension, max(.zero, suspensionLeft(now)))]
    default: return []
    }
  }

  /// Until the object has been silent for too long.
  private func silenceLeft(_ now: Duration) -> Duration {
    let limit = heard == nil ? timeouts.preparedness : timeouts.silence
    return limit - (now - (heard ?? startedAt))
  }

  private func activityLeft(_ now: Duration) -> Duration {
    (timeouts.activity ?? .seconds(Int64(Int32.max))) - (now - startedAt)
  }

  private func suspensionLeft(_ now: Duration) -> Duration {
    timeouts.suspension - (now - suspendedAt)
  }

  /// Takes an event in.
  ///
  /// - Parameter now: on a clock that does not go back.
  /// - Returns: what is to be done, in this order.
  mutating func handle(_ event: SessionEvent, at now: Duration) -> [SessionEffect] {
    if phase == .invalidated { return afterTheEnd(event) }
    switch event {
    case .run(let hasObject, let problem): return begin(hasObject, problem)
    case .pause: return pause()
    case .invalidate:
      let wasOnChip = isOnChip
      phase = .invalidated
      return stopTimers + (wasOnChip ? [.end(tellPeer: true)] : [])
    case .slept:
      guard phase == .starting || phase == .running else { return [] }
      phase = .suspensionEnded
      return stopTimers + [.end(tellPeer: false), .call(.suspended), .call(.suspensionEnded)]
    case .timer(let timer): return elapsed(timer, now)
    case .report(let run, let report):
      return run == self.run ? take(report, now) : []
    }
  }

  // MARK: what the app asks for

  private mutating func begin(_ hasObject: Bool, _ problem: NIError?) -> [SessionEffect] {
    var effects = stopTimers
    if isOnChip { effects.append(.end(tellPeer: false)) }
    run += 1
    if let problem {
      phase = .invalidated
      return effects + [.call(.invalidated(problem))]
    }
    self.hasObject = hasObject
    heard = nil
    phase = .starting
    return effects + [.begin(run: run)]
  }

  private mutating func pause() -> [SessionEffect] {
    guard phase == .starting || phase == .running else { return [] }
    phase = .paused
    return stopTimers + [.end(tellPeer: false)]
  }

  /// Only `run` says something more: that the session has ended.
  private func afterTheEnd(_ event: SessionEvent) -> [SessionEffect] {
    guard case .run(_, let problem) = event else { return [] }
    let ended = NIError(
      .sessionFailed, reason: "The session has been invalidated.",
      recovery: "Make a new NISession.")
    return [.call(.invalidated(problem ?? ended))]
  }

  // MARK: what the chip reports

  private mutating func take(_ report: SessionEvent.Report, _ now: Duration) -> [SessionEffect] {
    switch (report, phase) {
    case (.started(let needsData), .starting):
      phase = .running
      startedAt = now
      return [.call(.started)] + (needsData ? [.call(.shareable)] : []) + timers(now)
    case (.heard, .running):
      // From the first answer on the other time counts; further ones only move its end.
      let isFirst = heard == nil
      heard = now
      return isFirst && hasObject ? [.set(.silence, timeouts.silence)] : []
    case (.unavailable(let cause), .starting), (.lost(let cause), .running),
      (.lost(let cause), .starting):
      phase = .suspended
      (absence, suspendedAt) = (cause, now)
      return stopTimers + [.call(.suspended)] + timers(now)
    case (.available, .suspended):
      phase = .suspensionEnded
      return stopTimers + [.end(tellPeer: false), .call(.suspensionEnded)]
    case (.peerEnded, .running), (.peerEnded, .starting): return remove(.peerEnded)
    case (.failed(let problem), _) where isOnChip: return fail(problem)
    default: return []
    }
  }

  private mutating func elapsed(_ timer: Timer, _ now: Duration) -> [SessionEffect] {
    switch (timer, phase) {
    case (.silence, .running):
      // Heard since the timer was set: the rest of the time.
      let left = silenceLeft(now)
      return left > .zero ? [.set(.silence, left)] : remove(.timeout)
    case (.activity, .running):
      let left = activityLeft(now)
      guard left <= .zero else { return [.set(.activity, left)] }
      return fail(
        NIError(
          .resourceUsageTimeout, reason: "It ranged for as long as its time-out allows.",
          recovery: "Run it again in time, or set NISession.timeouts.activity to nil."))
    case (.suspension, .suspended):
      let left = suspensionLeft(now)
      guard left <= .zero else { return [.set(.suspension, left)] }
      let sentence = "The device was away for too long."
      return fail(
        absence?.with(.sessionFailed, sentence) ?? NIError(.sessionFailed, reason: sentence))
    default: return []
    }
  }

  // MARK: ends

  private mutating func remove(_ reason: NINearbyObject.RemovalReason) -> [SessionEffect] {
    phase = .removed
    return stopTimers + [.end(tellPeer: false)] + (hasObject ? [.call(.removed(reason))] : [])
  }

  private mutating func fail(_ problem: NIError) -> [SessionEffect] {
    let wasOnChip = isOnChip
    phase = .invalidated
    return stopTimers + (wasOnChip ? [.end(tellPeer: true)] : [])
      + [.call(.invalidated(problem))]
  }

  /// Something of the last run is, or may be, on the chip or waits for a device.
  private var isOnChip: Bool {
    switch phase {
    case .starting, .running, .suspended: true
    case .ready, .paused, .removed, .suspensionEnded, .invalidated: false
    }
  }

  private var stopTimers: [SessionEffect] { [.stopTimers] }
}
