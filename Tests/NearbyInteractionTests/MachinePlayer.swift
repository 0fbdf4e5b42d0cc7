// SPDX-License-Identifier: Apache-2.0
@testable import NearbyInteraction

/// Plays events to a state machine in virtual time.
struct MachinePlayer {
  /// The reason why there is no device.
  static let absence = NIError(
    .sessionFailed, reason: "There is no device at /dev/x.", recovery: "Plug it in.")

  var machine = SessionMachine()
  private(set) var now = Duration.zero
  private var timers: [SessionMachine.Timer: Duration] = [:]
  /// All effects in order, except for timers.
  private(set) var effects: [SessionEffect] = []

  /// The calls to the app so far, except for reports that the object is out of range.
  var calls: [SessionEffect.Callback] {
    effects.compactMap { effect in
      guard case .call(let callback) = effect, callback != .outOfRange else { return nil }
      return callback
    }
  }

  /// The number of reports to the app that the object is out of range.
  var absences: Int { effects.count { $0 == .call(.outOfRange) } }

  /// The effects for the chip's side so far.
  var orders: [SessionEffect] {
    effects.filter { if case .call = $0 { false } else { true } }
  }

  /// The running timers.
  var waits: Set<SessionMachine.Timer> { Set(timers.keys) }

  /// The timeouts, which can be changed at any time.
  var timeouts: NISession.Timeouts {
    get { machine.timeouts }
    set { carryOut(machine.set(newValue, at: now)) }
  }

  mutating func handle(_ event: SessionEvent) { carryOut(machine.handle(event, at: now)) }

  private mutating func carryOut(_ list: [SessionEffect]) {
    for effect in list {
      switch effect {
      case .set(let timer, let time): timers[timer] = now + time
      case .stopTimers: timers = [:]
      default: effects.append(effect)
      }
    }
  }

  /// Handles a report of the current run.
  mutating func report(_ report: SessionEvent.Report) {
    handle(.report(run: machine.run, report))
  }

  mutating func run(hasObject: Bool = true, problem: NIError? = nil) {
    handle(.run(hasObject: hasObject, problem: problem))
  }

  /// Advances the time and fires all timers that are due.
  mutating func pass(_ time: Duration) {
    let end = now + time
    while let (timer, due) = timers.min(by: { $0.value < $1.value }), due <= end {
      now = max(now, due)
      timers[timer] = nil
      handle(.timer(timer))
    }
    now = end
  }

  /// Removes all recorded effects.
  mutating func forget() { effects = [] }

  /// A session that ranges and has measured its object.
  static func ranging(needsData: Bool = false) -> MachinePlayer {
    var run = MachinePlayer()
    run.run()
    run.report(.started(needsData: needsData))
    run.report(.measured)
    run.forget()
    return run
  }
}
