// SPDX-License-Identifier: Apache-2.0

/// Keeps the rounds of many controllers apart: asks their clocks for the time, starts their
/// sessions at initiation times, and starts a session again before its rounds have moved too far.
///
/// A value without a clock: the caller carries out orders, and reports the results.
package struct RoundKeeper: Sendable {
  package enum Order: Sendable, Hashable {
    /// Ask the chip of a controller for its time.
    case ask(controller: String)
    /// Start a session, after stopping it if it runs: the first round at a reading of the chip's
    /// clock in microseconds, which is a time of the host in seconds. Without a reading, it starts
    /// at once.
    case start(UInt32, controller: String, reading: UInt64?, at: Double)
  }

  /// Seconds between two questions: before the first start, and later.
  private static let (quick, calm) = (0.1, 10.0)
  /// Questions before the first start.
  private static let first = 5
  /// Seconds from an order to the first round: chips reject times that have passed.
  private static let lead = 0.3
  /// Seconds before the next attempt after a failure.
  private static let retry = 2.0
  /// Deviations of a round that are kept free.
  private static let certainty = 3.0
  /// Refusals after which a chip counts as one without a clock.
  private static let mostRefusals = 3

  private struct Controller {
    var clock: ControllerClock?
    var answers = 0
    var refusals = 0
    var nextQuestion = -Double.infinity

    var hasNoClock: Bool { refusals >= RoundKeeper.mostRefusals }
  }

  private struct Running {
    /// The time of the first round, with its standard deviation.
    var start: Double
    var deviation: Double
  }

  package let schedule: ControllerSchedule
  private var controllers: [String: Controller] = [:]
  private var running: [UInt32: Running] = [:]
  private var blocked: [UInt32: Double] = [:]
  /// The number of starts that followed an earlier one.
  package private(set) var restarts = 0

  package init(_ schedule: ControllerSchedule) {
    self.schedule = schedule
    for session in schedule.sessions { controllers[session.controller] = Controller() }
  }

  /// Whether each session has been started, except for the ones that cannot be kept apart.
  package var hasStartedAll: Bool {
    schedule.sessions.allSatisfy { running[$0.id] != nil || isAbandoned($0.controller) }
  }

  /// Whether the sessions of a controller never start: its chip has no clock, by which its rounds
  /// could be kept apart from the ones of others.
  package func isAbandoned(_ controller: String) -> Bool {
    schedule.sessions.count > 1 && controllers[controller]?.hasNoClock == true
  }

  package func clock(of controller: String) -> ControllerClock? { controllers[controller]?.clock }

  // MARK: reports

  /// Adds an answer: the chip had the reading, in microseconds, between two times of the host.
  package mutating func answer(
    _ controller: String, asked: Double, answered: Double, reading: UInt64
  ) {
    guard var state = controllers[controller] else { return }
    let seconds = Double(reading) / 1e6
    if state.clock?.add(asked: asked, answered: answered, reading: seconds) != true {
      // A chip that has started again has no sessions.
      state.clock = ControllerClock(asked: asked, answered: answered, reading: seconds)
      state.answers = 0
      forget(controller)
    }
    state.answers += 1
    state.refusals = 0
    state.nextQuestion = answered + (state.answers < Self.first ? Self.quick : Self.calm)
    controllers[controller] = state
  }

  /// Adds the rate of a controller's clock against the one of another, from a round in which the
  /// controller was a controlee.
  package mutating func add(
    carrierOffset: Double, deviation: Double, of controller: String, against reference: String
  ) {
    guard let base = controllers[reference]?.clock else { return }
    let own = base.rateDeviation
    controllers[controller]?.clock?.add(
      rate: base.rate + carrierOffset,
      deviation: (own * own + deviation * deviation).squareRoot())
  }

  /// Notes that a chip works, but has no clock to read. The third time is the last question.
  package mutating func refused(_ controller: String) {
    guard var state = controllers[controller] else { return }
    state.refusals += 1
    if state.hasNoClock { state.nextQuestion = .infinity }
    controllers[controller] = state
  }

  /// Notes that a start has failed: the next attempt follows later.
  package mutating func failed(_ session: UInt32, at now: Double) {
    running[session] = nil
    blocked[session] = now + Self.retry
  }

  /// Notes that the chip of a controller was away: its sessions have ended, and its clock may have
  /// started again.
  package mutating func lost(_ controller: String, at now: Double) {
    controllers[controller] = Controller(nextQuestion: now + Self.retry)
    forget(controller)
  }

  private mutating func forget(_ controller: String) {
    for session in schedule.sessions where session.controller == controller {
      running[session.id] = nil
    }
  }

  // MARK: orders

  /// Returns what is due, and the time of the next call at the latest.
  package mutating func orders(at now: Double) -> (orders: [Order], next: Double) {
    var (orders, next) = ([Order](), now + Self.calm)
    for name in controllers.keys.sorted() {
      guard let due = controllers[name]?.nextQuestion else { continue }
      if due <= now {
        orders.append(.ask(controller: name))
        controllers[name]?.nextQuestion = now + Self.retry
        // The answer arrives soon, and the next question follows it.
        next = min(next, now + Self.quick)
      }
      next = min(next, max(now, controllers[name]?.nextQuestion ?? now))
    }
    for session in schedule.sessions where (blocked[session.id] ?? now) <= now {
      guard let state = controllers[session.controller] else { continue }
      // The only session of a schedule meets no other one, whenever its rounds begin.
      if state.hasNoClock, schedule.sessions.count == 1, running[session.id] == nil {
        running[session.id] = Running(start: now, deviation: .infinity)
        orders.append(
          .start(session.id, controller: session.controller, reading: nil, at: now))
      }
      guard let clock = state.clock, state.answers >= Self.first else { continue }
      if running[session.id] == nil || isDue(session, clock, now) {
        orders.append(start(session, clock, now))
      }
      next = min(next, now + 1)
    }
    return (orders, next)
  }

  private mutating func start(
    _ session: ControllerSchedule.Session, _ clock: ControllerClock, _ now: Double
  ) -> Order {
    let time = schedule.start(of: session, notBefore: now + Self.lead)
    if running[session.id] != nil { restarts += 1 }
    running[session.id] = Running(start: time, deviation: clock.deviation(at: time))
    let reading = UInt64(max(0, (1e6 * clock.reading(at: time)).rounded()))
    return .start(session.id, controller: session.controller, reading: reading, at: time)
  }

  /// Whether the rounds will have moved by half a gap before the next look at them.
  private func isDue(
    _ session: ControllerSchedule.Session, _ clock: ControllerClock, _ now: Double
  ) -> Bool {
    guard let run = running[session.id] else { return true }
    let passed = now + schedule.block + Self.retry - run.start
    guard passed > 0 else { return false }
    let moved = (abs(clock.rate) + Self.certainty * clock.rateDeviation) * passed
    // Another start at once would not help where a clock is read badly.
    let start = min(Self.certainty * run.deviation, schedule.gap / 4)
    return moved + start > schedule.gap / 2
  }
}
