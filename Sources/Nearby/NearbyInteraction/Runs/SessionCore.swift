// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import Foundation
internal import System
internal import UWB

/// The implementation of a session. It executes the effects of its state machine, and passes
/// measurements to the delegate. It is thread-safe.
final class SessionCore: Sendable {
  /// An executor of runs on a chip. Tests have another implementation.
  protocol Executor: Sendable {
    func begin(_ run: Int, _ plan: SessionPlan, _ core: SessionCore)
    func end(notifiesPeer: Bool)
    func finish() async
  }

  /// The number of updates that can wait for the app's queue. Beyond it, the newest updates are
  /// dropped.
  static let pendingLimit = 64

  struct State {
    var machine = SessionMachine()
    weak var session: NISession?
    weak var delegate: (any NISessionDelegate)?
    var queue: DispatchQueue? {
      didSet { queueNumber += 1 }
    }
    var queueNumber = 0
    var pendingCallbacks = Deque<PendingCallback>()
    /// The number of pending callbacks that have not been scheduled on their queue yet.
    var unscheduledCallbacks = 0
    // State of the last run:
    var plan: SessionPlan?
    var token: NIDiscoveryToken?
    var shareable: [UInt8]?
    var finder: MotionFinder?
    var anchors = AnchorMessages()
    var timers: [SessionMachine.Timer: @Sendable () -> Void] = [:]
    var slept = Duration.zero
    /// Whether the app has ended the session itself. The delegate is then not called.
    var isSilenced = false
    /// The newest update of a run, kept while the program is in the background.
    var heldUpdate: (event: NISession.Event, run: Int)?
    var pendingUpdates = 0
    var droppedUpdates = 0
    var unpublished = UnpublishedEvents()

    /// Removes the oldest pending callback of a queue.
    mutating func nextCallback(for queueNumber: Int) -> PendingCallback? {
      // All callbacks are for this queue, unless the app has just set another queue.
      if pendingCallbacks.first?.queueNumber == queueNumber { return pendingCallbacks.popFirst() }
      return pendingCallbacks.firstIndex { $0.queueNumber == queueNumber }
        .map { pendingCallbacks.remove(at: $0) }
    }
  }

  /// An event for the delegate, and its queue. The event of a run is dropped after that run has
  /// ended.
  struct PendingCallback {
    var event: NISession.Event
    var run: Int?
    var queueNumber: Int
  }

  let state = Locked(State())
  let broadcast = Broadcast<NISession.Event>()
  let clock: any SessionClock
  private let executor: any Executor
  private let program: ProgramState

  init(
    clock: any SessionClock = SystemClock(), executor: any Executor = RunExecutor(),
    program: ProgramState = .shared
  ) {
    (self.clock, self.executor, self.program) = (clock, executor, program)
    let slept = clock.times.slept
    state.withLock { $0.slept = slept }
    program.add(self)
    programStateChanged()
  }

  // MARK: events

  func handle(_ event: SessionEvent) { change { apply(event, &$0) } }

  /// Changes the state, then schedules the callbacks that result.
  ///
  /// The callbacks are scheduled outside of the lock, because a woken thread takes the lock.
  /// Their order is kept, because each scheduled call delivers the oldest callback.
  func change(_ body: (inout State) -> Void) {
    let (queue, number, callbacks, hasEvents) = state.withLock { state in
      body(&state)
      defer { state.unscheduledCallbacks = 0 }
      return (
        state.queue, state.queueNumber, state.unscheduledCallbacks,
        state.unpublished.beginPublishing()
      )
    }
    for _ in 0..<callbacks { (queue ?? .main).async { [self] in deliver(number) } }
    if hasEvents { publish() }
  }

  func run(
    _ plan: SessionPlan?, token: NIDiscoveryToken?, finder: MotionFinder?, problem: NIError?
  ) {
    change { state in
      if state.machine.phase != .invalidated {
        (state.plan, state.token, state.finder) = (plan, token, finder)
        state.shareable = nil
        state.anchors = AnchorMessages()
        // A sleep before this run does not count.
        state.slept = clock.times.slept
      } else {
        state.isSilenced = false
      }
      let endures = plan?.bluetoothPeer != nil
      apply(.run(hasObject: token != nil, endures: endures, problem: problem), &state)
    }
  }

  /// Handles a change of the program to the background or the foreground.
  func programStateChanged() {
    change { state in
      let isInBackground = program.isInBackground
      guard isInBackground != state.machine.isInBackground else { return }
      if isInBackground {
        // Updates that wait for the app's queue would arrive in the background.
        for callback in state.pendingCallbacks {
          if let run = callback.run { state.heldUpdate = (callback.event, run) }
        }
        state.pendingCallbacks.removeAll { $0.run != nil }
        state.pendingUpdates = 0
      }
      apply(.background(isInBackground), &state)
      guard !isInBackground, let held = state.heldUpdate.take(), state.machine.isRanging(held.run)
      else { return }
      send(held.event, run: held.run, &state)
    }
  }

  /// Stores the data that a run has generated for the accessory.
  func keep(_ shareable: [UInt8]?, for run: Int) {
    state.withLock { if $0.machine.run == run { $0.shareable = shareable } }
  }

  func apply(_ event: SessionEvent, _ state: inout State) {
    let (now, slept) = clock.times
    // The two clocks are read one after the other, so they may differ a little.
    if slept - state.slept > .seconds(1) {
      state.slept = slept
      execute(state.machine.handle(.slept, at: now), &state)
    }
    if event == .invalidate {
      state.isSilenced = true
      state.unpublished.finish()
    }
    execute(state.machine.handle(event, at: now), &state)
  }

  private func execute(_ effects: [SessionEffect], _ state: inout State) {
    for effect in effects {
      switch effect {
      case .begin(let run): if let plan = state.plan { executor.begin(run, plan, self) }
      case .end(let notifiesPeer): executor.end(notifiesPeer: notifiesPeer)
      case .set(let timer, let time):
        state.timers[timer]?()
        // `stopTimers` follows every end of a session, and releases this reference. A weak
        // reference would slow down the delivery of each measurement.
        state.timers[timer] = clock.after(time) { [self] in handle(.timer(timer)) }
      case .stopTimers:
        for stop in state.timers.values { stop() }
        state.timers = [:]
        if state.machine.phase == .invalidated { program.remove(self) }
      case .call(let callback): call(callback, &state)
      }
    }
  }

  /// Changes the time limits, including running limits.
  func set(_ timeouts: NISession.Timeouts) {
    change { execute($0.machine.set(timeouts, at: clock.times.now), &$0) }
  }

  /// Ends the session, and waits until it has been removed from its chip.
  func close() async {
    handle(.invalidate)
    await executor.finish()
  }

  // MARK: callbacks

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
    case .outOfRange:
      guard let object else { return }
      send(.didUpdate([object]), run: state.machine.run, &state)
    case .removed(let reason):
      guard let object else { return }
      send(.didRemove(object, reason), &state)
    case .invalidated(let error):
      send(.didInvalidate(error), &state)
      state.unpublished.finish()
    }
  }

  /// Sends an event to the delegate, on its queue, and to the subscribers.
  ///
  /// - Parameter run: the run of an update. An update waits for the foreground.
  func send(_ event: NISession.Event, run: Int? = nil, _ state: inout State) {
    if let run, state.machine.isInBackground {
      state.heldUpdate = (event, run)
      return
    }
    state.unpublished.append(event)
    if run != nil {
      guard state.pendingUpdates < Self.pendingLimit else {
        state.droppedUpdates += 1
        return
      }
      state.pendingUpdates += 1
    }
    state.pendingCallbacks.append(
      PendingCallback(event: event, run: run, queueNumber: state.queueNumber))
    state.unscheduledCallbacks += 1
  }

  /// Delivers the oldest pending callback of a queue, on that queue.
  private func deliver(_ queueNumber: Int) {
    // Session and delegate are released outside of the lock. Releasing the last reference to a
    // session ends it, which takes the lock.
    let (event, session, delegate) = state.withLock {
      state -> (NISession.Event?, NISession?, (any NISessionDelegate)?) in
      guard let callback = state.nextCallback(for: queueNumber) else { return (nil, nil, nil) }
      if let run = callback.run {
        state.pendingUpdates -= 1
        // The session may have been paused, removed or run again.
        guard state.machine.isRanging(run) else { return (nil, nil, nil) }
      }
      return state.isSilenced ? (nil, nil, nil) : (callback.event, state.session, state.delegate)
    }
    guard let event, let session, let delegate else { return }
    event.deliver(to: delegate, session)
  }
}

/// The events of a session that its subscribers have not received yet.
///
/// The session's lock protects them, but they are published outside of the lock. Waking a task
/// takes a lock of the runtime, which is also held while cancellation handlers of a task run. These
/// handlers (the stream's own, or an app's that ends the session) take the session's lock.
struct UnpublishedEvents {
  /// The events in order; nil stands for the end.
  private var events = Deque<NISession.Event?>()
  private var isPublishing = false
  private var hasEnded = false
  /// Whether there is a subscriber.
  var isObserved = false

  mutating func append(_ event: NISession.Event) {
    if isObserved, !hasEnded { events.append(event) }
  }

  mutating func finish() {
    if isObserved, !hasEnded { events.append(nil) }
    hasEnded = true
  }

  /// Starts publishing. Returns false if there are no events, or another thread publishes.
  mutating func beginPublishing() -> Bool {
    guard !isPublishing, !events.isEmpty else { return false }
    isPublishing = true
    return true
  }

  /// Removes the next event for the publishing thread; nil if there is none.
  mutating func next() -> NISession.Event?? {
    let next = events.popFirst()
    if next == nil { isPublishing = false }
    return next
  }
}

extension SessionCore {
  func events() -> AsyncStream<NISession.Event> {
    let hasEnded = state.withLock { state in
      state.unpublished.isObserved = true
      return state.machine.phase == .invalidated
    }
    return hasEnded ? AsyncStream { $0.finish() } : broadcast.subscribe(.bufferingNewest(256))
  }

  /// Publishes all events in order. Only one thread publishes at a time.
  func publish() {
    while let next = state.withLock({ $0.unpublished.next() }) {
      if let next { broadcast.send(next) } else { broadcast.finish() }
    }
  }
}
