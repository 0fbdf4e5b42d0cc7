// SPDX-License-Identifier: Apache-2.0
@testable import NearbyInteraction

/// Plays events to a machine, in a time that only tests move.
struct MachineRun {
  /// Why there is no device.
  static let absence = NIError(
    .sessionFailed, reason: "There is no device at /dev/x.", recovery: "Plug it in.")

  var machine = SessionMachine()
  private(set) var now = Duration.zero
  private var timers: [SessionMachine.Timer: Duration] = [:]
  /// Everything there was to do, in its order, beside timers.
  private(set) var effects: [SessionEffect] = []

  /// The calls to the app so far.
  var calls: [SessionEffect.Callback] {
    effects.compactMap { if case .call(let callback) = $0 { callback } else { nil } }
  }

  /// What the chip's side was asked for so far.
  var orders: [SessionEffect] {
    effects.filter { if case .call = $0 { false } else { true } }
  }

  /// What is waited for.
  var waits: Set<SessionMachine.Timer> { Set(timers.keys) }

  /// Of the machine, changed in the middle of whatever it does.
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

  /// The current run reports.
  mutating func report(_ report: SessionEvent.Report) {
    handle(.report(run: machine.run, report))
  }

  mutating func run(hasObject: Bool = true, problem: NIError? = nil) {
    handle(.run(hasObject: hasObject, problem: problem))
  }

  /// Lets time pass, and every timer in it that is due.
  mutating func pass(_ time: Duration) {
    let end = now + time
    while let (timer, due) = timers.min(by: { $0.value < $1.value }), due <= end {
      now = max(now, due)
      timers[timer] = nil
      handle(.timer(timer))
    }
    now = end
  }

  /// Forgets what has been so far.
  mutating func forget() { effects = [] }

  /// A session that ranges and has been heard.
  static func ranging(needsData: Bool = false) -> MachineRun {
    var run = MachineRun()
    run.run()
    run.report(.started(needsData: needsData))
    run.report(.heard)
    run.forget()
    return run
  }
}
