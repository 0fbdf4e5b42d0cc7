// SPDX-License-Identifier: Apache-2.0

/// Keeps the rounds of many controllers apart.
///
/// Reads their clocks, and starts their sessions at initiation times. Restarts a session before its
/// rounds have moved too far. A value without a clock: the caller carries out orders, and reports
/// the results.
package struct RoundKeeper: Sendable {
  package enum Order: Sendable, Hashable {
    /// Asks the chip of a controller for its time.
    case ask(controller: String)
    /// Starts a session, after stopping it if it runs.
    ///
    /// `reading` is the time of the first round by the chip's clock, in microseconds. `at` is the
    /// same time by the host's clock, in seconds. Without a reading, the session starts at once.
    case start(UInt32, controller: String, reading: UInt64?, at: Double)
  }

  /// Seconds between two questions: `quick` before the first start, `calm` later.
  private static let (quick, calm) = (0.1, 10.0)
  /// The number of questions before the first start.
  private static let first = 5
  /// Seconds from an order to the first round: chips reject times that have passed.
  private static let lead = 0.3
  /// Seconds before the next attempt after a failure.
  private static let retry = 2.0
  /// The number of standard deviations of a round's time that are kept free.
  private static let certainty = 3.0
  /// The number of refusals after which the chip counts as having no clock.
  private static let mostRefusals = 3

  private struct Controller {
    var clock: ControllerClock?
    var answers = 0
    var refusals = 0
    var nextQuestion = -Double.infinity

    var hasNoClock: Bool { refusals >= RoundKeeper.mostRefusals }
  }

  private struct Running {
    /// The time of the first round.
    var start: Double
    var deviation: Double
  }

  package let schedule: ControllerSchedule
  private var controllers: [String: Controller] = [:]
  private var running: [UInt32: Running] = [:]
  private var blocked: [UInt32: Double] = [:]
  /// The number of starts that were not the first start of their session.
  package private(set) var restarts = 0

  package init(_ schedule: ControllerSchedule) {
    self.schedule = schedule
    for session in schedule.sessions { controllers[session.controller] = Controller() }
  }

  /// Whether every session has been started, apart from sessions of abandoned controllers.
  package var hasStartedAll: Bool {
    schedule.sessions.allSatisfy { running[$0.id] != nil || isAbandoned($0.controller) }
  }

  /// Returns whether the sessions of a controller never start.
  ///
  /// Without a readable clock, its rounds cannot be kept apart from the rounds of others.
  package func isAbandoned(_ controller: String) -> Bool {
    schedule.sessions.count > 1 && controllers[controller]?.hasNoClock == true
  }

  package func clock(of controller: String) -> ControllerClock? { controllers[controller]?.clock }

  // MARK: reports

  /// Adds a reading of a chip's clock in microseconds, taken between two times of the host.
  package mutating func answer(
    _ controller: String, asked: Double, answered: Double, reading: UInt64
  ) {
    guard var state = controllers[controller] else { return }
    let seconds = Double(reading) / 1e6
    if state.clock?.add(asked: asked, answered: answered, reading: seconds) != true {
      // The clock has restarted, so the chip has lost its sessions.
      state.clock = ControllerClock(asked: asked, answered: answered, reading: seconds)
      state.answers = 0
      forget(controller)
    }
    state.answers += 1
    state.refusals = 0
    state.nextQuestion = answered + (state.answers < Self.first ? Self.quick : Self.calm)
    controllers[controller] = state
  }

  /// Adds the rate of a controller's clock relative to another controller's clock.
  ///
  /// The controller has measured the rate as a controlee in a round of the other controller.
  package mutating func add(
    carrierOffset: Double, deviation: Double, of controller: String, against reference: String
  ) {
    guard let base = controllers[reference]?.clock else { return }
    let own = base.rateDeviation
    controllers[controller]?.clock?.add(
      rate: base.rate + carrierOffset,
      deviation: (own * own + deviation * deviation).squareRoot())
  }

  /// Notes the answer of a chip that it has no clock to read. After three refusals, questions end.
  package mutating func refused(_ controller: String) {
    guard var state = controllers[controller] else { return }
    state.refusals += 1
    if state.hasNoClock { state.nextQuestion = .infinity }
    controllers[controller] = state
  }

  /// Notes that a start has failed. The next attempt follows later.
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

  /// Returns the orders that are due, and the latest time of the next call.
  package mutating func orders(at now: Double) -> (orders: [Order], next: Double) {
    var (orders, next) = ([Order](), now + Self.calm)
    for name in controllers.keys.sorted() {
      guard let due = controllers[name]?.nextQuestion else { continue }
      if due <= now {
        orders.append(.ask(controller: name))
        controllers[name]?.nextQuestion = now + Self.retry
        // The answer arrives soon and permits the next question.
        next = min(next, now + Self.quick)
      }
      next = min(next, max(now, controllers[name]?.nextQuestion ?? now))
    }
    for session in schedule.sessions where (blocked[session.id] ?? now) <= now {
      guard let state = controllers[session.controller] else { continue }
      // A session without other sessions in its schedule may start at any time.
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

  /// Returns whether the rounds will have moved by half a gap before the next check.
  private func isDue(
    _ session: ControllerSchedule.Session, _ clock: ControllerClock, _ now: Double
  ) -> Bool {
    guard let run = running[session.id] else { return true }
    let passed = now + schedule.block + Self.retry - run.start
    guard passed > 0 else { return false }
    let moved = (abs(clock.rate) + Self.certainty * clock.rateDeviation) * passed
    // A restart would not make readings more precise, so the part of their deviation is limited.
    let start = min(Self.certainty * run.deviation, schedule.gap / 4)
    return moved + start > schedule.gap / 2
  }
}
