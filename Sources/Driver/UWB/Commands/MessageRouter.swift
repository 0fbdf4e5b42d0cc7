// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Synchronization
internal import UCI
internal import UWBLink

/// Routes frames: measurements to their subscribers, everything else to the engine.
///
/// `receive` runs on the reader thread and nowhere else. A measurement passes through without an
/// allocation and without a lock.
final class MessageRouter: @unchecked Sendable {
  // Safe because `reassembler`, `current` and `seen` are used on the reader thread only, and the
  // rest is atomic or locked.

  private let engine: CommandEngine
  private let report: @Sendable (DeviceEvent) -> Void
  private let sessionEnded: @Sendable (SessionStatusNotification) -> Void
  private var reassembler = Reassembler()
  private var current: [(token: UInt32, subscription: Subscription)] = []
  private var seen = 0
  private let version = Atomic<Int>(0)
  private let subscriptions = Locked<[Subscription]>([])
  private let dataLengthInByte3 = Atomic<Bool>(false)
  /// Up to four opcodes of diagnostics, 16 bits each.
  private let diagnostics = Atomic<UInt64>(0)
  private let isNewLink = Atomic<Bool>(false)
  private let lastHeard = Atomic<UInt64>(CommandEngine.now())

  /// - Parameter sessionEnded: called when a session is no longer ACTIVE, before its streams end.
  init(
    engine: CommandEngine,
    sessionEnded: @escaping @Sendable (SessionStatusNotification) -> Void = { _ in },
    report: @escaping @Sendable (DeviceEvent) -> Void
  ) {
    self.engine = engine
    self.sessionEnded = sessionEnded
    self.report = report
  }

  func adopt(_ profile: DeviceProfile) {
    dataLengthInByte3.store(profile.dataLengthInByte3, ordering: .relaxed)
    diagnostics.store(
      profile.diagnostics.prefix(4).reduce(0) { $0 << 16 | UInt64($1.word) }, ordering: .relaxed)
  }

  /// The time of the last frame from the chip in nanoseconds of CLOCK_MONOTONIC. Any thread.
  var heardAt: UInt64 { lastHeard.load(ordering: .relaxed) }

  // MARK: subscriptions (any thread)

  func add(_ subscription: Subscription) {
    subscriptions.withLock {
      $0.append(subscription)
      version.add(1, ordering: .releasing)
    }
    // A closed session or a lost device delivers nothing. This check comes after the insertion, so
    // that an end at the same moment finds the subscription either here or there.
    if let end = engine.ended {
      finish(end == .closed ? nil : end) { $0 === subscription }
    } else if subscription.session.isOver {
      finish(nil) { $0 === subscription }
    }
  }

  func remove(_ subscription: Subscription) {
    subscriptions.withLock {
      $0.removeAll { $0 === subscription }
      version.add(1, ordering: .releasing)
    }
  }

  /// Ends all subscriptions to a session, or all subscriptions.
  func finish(_ record: SessionRecord?, _ error: DriverError?) {
    finish(error) { record == nil || $0.session === record }
  }

  private func finish(_ error: DriverError?, where isMeant: (Subscription) -> Bool) {
    let ending = subscriptions.withLock { list in
      let ending = list.filter(isMeant)
      list.removeAll { subscription in ending.contains { $0 === subscription } }
      version.add(1, ordering: .releasing)
      return ending
    }
    for subscription in ending { subscription.finish(error) }
  }

  /// Marks the table of tokens as outdated, because sessions were added, removed or made again.
  func sessionsChanged() { version.add(1, ordering: .releasing) }

  /// Marks later bytes as bytes of another link, which do not continue a message.
  func linkChanges() { isNewLink.store(true, ordering: .releasing) }

  // MARK: reader thread

  /// Interrupts the subscribers of sessions that were ranging.
  func interrupt(_ cause: DriverError) {
    sessionsChanged()
    for subscription in subscriptions.withLock({ $0 }) where subscription.session.shouldResume {
      subscription.interrupt(cause)
    }
  }

  func receive(_ frame: RawSpan, _ info: FrameInfo) {
    guard
      let header = try? PacketHeader(
        parsing: frame, dataLengthInByte3: dataLengthInByte3.load(ordering: .relaxed))
    else { return }
    lastHeard.store(info.receivedAt, ordering: .relaxed)
    let payload = frame.extracting(PacketHeader.length..<frame.byteCount)
    // The end of a message may be among the skipped bytes. Later bytes must not be used in its
    // place.
    if info.skippedBefore > 0 { reassembler.reset() }
    if isNewLink.load(ordering: .relaxed) {
      isNewLink.store(false, ordering: .relaxed)
      reassembler.reset()
    }
    switch reassembler.take(header, payload: payload) {
    case .whole: deliver(header, payload, info)
    case .completed: reassembler.withPayload(of: header.type) { deliver(header, $0, info) }
    case .incomplete: break
    }
  }

  private func deliver(_ header: PacketHeader, _ payload: RawSpan, _ info: FrameInfo) {
    if header.type == .notification, header.opcode == .sessionInfo {
      measurement(payload, info)
      return
    }
    if header.type == .notification, isDiagnostics(header.opcode),
      diagnostics(header.opcode, payload, info)
    {
      return
    }
    if header.type == .notification, header.opcode == .sessionStatus {
      engine.receiveSessionStatus(payload) { sessionChanged($0, wasActive: $1) }
    } else {
      engine.receive(type: header.type, opcode: header.opcode, payload: payload)
    }
  }

  private func measurement(_ payload: RawSpan, _ info: FrameInfo) {
    // The message is validated here only, for all its subscribers.
    guard let view = try? SessionInfoView(payload) else {
      // The layout of the message is unknown.
      return engine.receive(type: .notification, opcode: .sessionInfo, payload: payload)
    }
    refresh()
    let token = view.sessionToken
    if !deliver(RoundNotification(.measurements(view), info), token), !engine.knows(token) {
      engine.receive(type: .notification, opcode: .sessionInfo, payload: payload)
    }
  }

  /// Delivers a notification. Returns whether there was a subscriber.
  private func deliver(
    _ round: borrowing RoundNotification, _ token: UInt32, isDiagnostics: Bool = false
  ) -> Bool {
    var isTaken = false
    // Uses an index: without optimisation an iterator allocates.
    for index in 0..<current.count where current[index].token == token {
      let subscription = current[index].subscription
      if isDiagnostics, !subscription.includesDiagnostics { continue }
      isTaken = true
      if subscription.deliver(round) {
        report(.measurementsDropped(sessionToken: token, total: subscription.dropped))
      }
    }
    return isTaken
  }

  private func isDiagnostics(_ opcode: Opcode) -> Bool {
    var known = diagnostics.load(ordering: .relaxed)
    while known != 0 {
      if UInt32(known & 0xFFFF) == opcode.word { return true }
      known >>= 16
    }
    return false
  }

  /// Delivers diagnostics. Returns whether there was a subscriber; otherwise they are handled like
  /// other messages.
  private func diagnostics(_ opcode: Opcode, _ payload: RawSpan, _ info: FrameInfo) -> Bool {
    var reader = PayloadReader(payload)
    guard let token = try? reader.u32("session token") else { return false }
    refresh()
    return deliver(
      RoundNotification(.diagnostics(opcode, payload), info), token, isDiagnostics: true)
  }

  private func refresh() {
    guard version.load(ordering: .acquiring) != seen else { return }
    subscriptions.withLock { list in
      seen = version.load(ordering: .acquiring)
      current = list.compactMap { subscription in
        subscription.session.tokenOnChip.map { ($0, subscription) }
      }
    }
  }

  // Ends the streams of a session that is no longer ACTIVE, after its last measurement. Resumes the
  // streams of a session that ranges again after an interruption, before its first measurement.
  private func sessionChanged(_ status: SessionStatusNotification, wasActive: Bool) {
    let token = status.sessionToken
    if status.state == .active {
      refresh()
      for entry in current where entry.token == token { entry.subscription.resume() }
    } else if wasActive {
      sessionEnded(status)
      finish(nil) { $0.session.tokenOnChip == token }
    }
  }
}
