// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import Foundation
internal import Locking
internal import UWB

/// The inside of a session: the machine with its effects carried out, and the way of a measurement to
/// the delegate. Any thread may call; what happens at the same time happens one after the other.
final class SessionCore: Sendable {
  /// Carries a run out on a chip. Tests put something else in its place.
  protocol Runner: Sendable {
    func begin(_ run: Int, _ plan: SessionPlan, _ core: SessionCore)
    func end(tellPeer: Bool)
    /// Waits until everything that was begun has ended.
    func finish() async
  }

  /// Updates that may wait for the app's queue; then the newest are dropped.
  static let pendingLimit = 64

  struct State {
    var machine = SessionMachine()
    weak var session: NISession?
    weak var delegate: (any NISessionDelegate)?
    var queue: DispatchQueue? {
      didSet { queueNumber += 1 }
    }
    var queueNumber = 0
    /// What the app has not been told yet.
    var outbox = Deque<Letter>()
    /// How many letters of `outbox` nobody has been sent for.
    var unannounced = 0
    /// Of the last run.
    var plan: SessionPlan?
    var token: NIDiscoveryToken?
    var shareable: [UInt8]?
    var finder: MotionFinder?
    var anchors = AnchorMessages()
    var timers: [SessionMachine.Timer: @Sendable () -> Void] = [:]
    var slept = Duration.zero
    /// The app has ended the session itself: nothing more is said.
    var isSilenced = false
    var pending = 0
    var dropped = 0
    var sequences = EventSequences()

    /// The oldest letter that is to be told on a queue.
    mutating func takeLetter(for queueNumber: Int) -> Letter? {
      // All are for this queue, unless the app has just chosen another one.
      if !outbox.isEmpty, outbox[0].queueNumber == queueNumber { return outbox.popFirst() }
      return outbox.firstIndex { $0.queueNumber == queueNumber }.map { outbox.remove(at: $0) }
    }
  }

  /// An event for the app, and the queue it is told it on; with a run, it is of interest only while
  /// that ranges.
  struct Letter {
    var event: NISession.Event
    var run: Int?
    var queueNumber: Int
  }

  let state = Locked(State())
  let clock: any SessionClock
  private let runner: any Runner

  init(clock: any SessionClock = SystemClock(), runner: any Runner = ChipRunner()) {
    self.clock = clock
    self.runner = runner
    let slept = clock.times.slept
    state.withLock { $0.slept = slept }
  }

  // MARK: events

  func handle(_ event: SessionEvent) { change { apply(event, &$0) } }

  /// Changes the state, and then has the app told of it.
  ///
  /// Not in the lock: who is woken wants it at once, and would go to sleep again. What happened first
  /// is said first all the same, because each call takes the oldest letter.
  func change(_ body: (inout State) -> Void) {
    let (queue, number, letters, hasNews) = state.withLock { state in
      body(&state)
      defer { state.unannounced = 0 }
      return (state.queue, state.queueNumber, state.unannounced, state.sequences.begin())
    }
    for _ in 0..<letters { (queue ?? .main).async { [self] in deliver(number) } }
    if hasNews { tell() }
  }

  /// The app runs the session: what it ranges with and how goes with the event.
  func run(
    _ plan: SessionPlan?, token: NIDiscoveryToken?, finder: MotionFinder?, problem: NIError?
  ) {
    change { state in
      if state.machine.phase != .invalidated {
        (state.plan, state.token, state.finder) = (plan, token, finder)
        state.shareable = nil
        state.anchors = AnchorMessages()
        // What was asleep before this run is over.
        state.slept = clock.times.slept
      } else {
        state.isSilenced = false
      }
      apply(.run(hasObject: token != nil, problem: problem), &state)
    }
  }

  /// Data for the accessory, made by a run.
  func keep(_ shareable: [UInt8]?, for run: Int) {
    state.withLock { if $0.machine.run == run { $0.shareable = shareable } }
  }

  func apply(_ event: SessionEvent, _ state: inout State) {
    let (now, slept) = clock.times
    // The clocks are read one after the other, so they may differ by a little.
    if slept - state.slept > .seconds(1) {
      state.slept = slept
      carryOut(state.machine.handle(.slept, at: now), &state)
    }
    if event == .invalidate {
      state.isSilenced = true
      state.sequences.finish()
    }
    carryOut(state.machine.handle(event, at: now), &state)
  }

  private func carryOut(_ effects: [SessionEffect], _ state: inout State) {
    for effect in effects {
      switch effect {
      case .begin(let run): if let plan = state.plan { runner.begin(run, plan, self) }
      case .end(let tellPeer): runner.end(tellPeer: tellPeer)
      case .set(let timer, let time):
        state.timers[timer]?()
        // Strong references to this object end with `stopTimers`, which every end of a session
        // brings. A weak one would make all the others slower, in the way of each measurement.
        state.timers[timer] = clock.after(time) { [self] in handle(.timer(timer)) }
      case .stopTimers:
        for stop in state.timers.values { stop() }
        state.timers = [:]
      case .call(let callback): call(callback, &state)
      }
    }
  }

  /// Other times, also for what is being waited for.
  func set(_ timeouts: NISession.Timeouts) {
    change { carryOut($0.machine.set(timeouts, at: clock.times.now), &$0) }
  }

  /// Ends the session, and waits until nothing of it is on a chip.
  func close() async {
    handle(.invalidate)
    await runner.finish()
  }

  // MARK: the app

  private func call(_ callback: SessionEffect.Callback, _ state: inout State) {
    guard !state.isSilenced else { return }
    let object = state.token.map { NINearbyObject(token: $0) }
    switch callback {
    case .started: send(.didStartRunning, &state)
    case .suspended: send(.wasSuspended, &state)
    case .suspensionEnded: send(.suspensionEnded, &state)
    case .shareable:
      guard let object, let data = state.shareable else { return }
      send(.didGenerateShareableConfigurationData(Data(data), object), &state)
    case .removed(let reason):
      guard let object else { return }
      send(.didRemove(object, reason), &state)
    case .invalidated(let error):
      send(.didInvalidate(error), &state)
      state.sequences.finish()
    }
  }

  /// Hands an event to the app: to the delegate on its queue, and to whoever iterates.
  func send(_ event: NISession.Event, run: Int? = nil, _ state: inout State) {
    state.sequences.send(event)
    if run != nil {
      guard state.pending < Self.pendingLimit else {
        state.dropped += 1
        return
      }
      state.pending += 1
    }
    state.outbox.append(Letter(event: event, run: run, queueNumber: state.queueNumber))
    state.unannounced += 1
  }

  /// What is told to whom. Session and delegate leave the lock with it: whoever lets go of the last
  /// reference to a session ends it, which takes the lock.
  private struct Delivery {
    var event: NISession.Event
    var session: NISession?
    var delegate: (any NISessionDelegate)?
  }

  /// On the app's queue: the oldest letter for it.
  private func deliver(_ queueNumber: Int) {
    let delivery = state.withLock { state -> Delivery? in
      guard let letter = state.takeLetter(for: queueNumber) else { return nil }
      if let run = letter.run {
        state.pending -= 1
        // Paused, removed or run anew meanwhile.
        guard state.machine.isRanging(run) else { return nil }
      }
      guard !state.isSilenced else { return nil }
      return Delivery(event: letter.event, session: state.session, delegate: state.delegate)
    }
    guard let delivery, let session = delivery.session, let delegate = delivery.delegate
    else { return }
    delivery.event.deliver(to: delegate, session)
  }
}
