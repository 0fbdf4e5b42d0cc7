// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import Logging
internal import Locking
internal import UCI
internal import UWBLink

/// Commands out, answers and states in: one command outstanding, in the order of asking.
///
/// Callers write from their own thread; `receive` runs on the reader's thread and resumes them. The
/// lock is taken for control messages only, never for a measurement.
final class Engine: Sendable {
  /// What the chip has said about its states so far.
  struct ChipState {
    var device: DeviceState?
    /// How often READY was reported; a reset waits for one more.
    var readyCount = 0
    /// `readyCount` when the last response arrived.
    var readyAtResponse = 0
    /// Last reported state of each session, by token.
    var sessions: [UInt32: SessionStatusNotification] = [:]
  }

  private struct Outstanding {
    var id: UInt64
    var opcode: Opcode
    var name: String
    var packets: [[UInt8]]
    var resends = 0
    var continuation: CheckedContinuation<Result<[UInt8], DriverError>, Never>
  }

  private struct Waiter {
    var condition: @Sendable (ChipState) -> Bool
    var continuation: CheckedContinuation<Result<ChipState, DriverError>, Never>
  }

  private struct State {
    var nextID: UInt64 = 0
    var chip = ChipState()
    var outstanding: Outstanding?
    var waiters: [UInt64: Waiter] = [:]
    var turnTaken = false
    var turns: Deque<CheckedContinuation<Void, Never>> = []
    var end: DriverError?
    var profile = DeviceProfile.generic
    var dialect = Dialect.assumed
  }

  private let link: Link
  private let logger: Logger
  private let state = Locked(State())
  private let report: @Sendable (DeviceEvent) -> Void

  init(link: Link, logger: Logger, report: @escaping @Sendable (DeviceEvent) -> Void) {
    self.link = link
    self.logger = logger
    self.report = report
  }

  var chip: ChipState { state.withLock { $0.chip } }
  var dialect: Dialect { state.withLock { $0.dialect } }
  var profile: DeviceProfile { state.withLock { $0.profile } }

  func adopt(_ profile: DeviceProfile, _ dialect: Dialect) {
    state.withLock {
      $0.profile = profile
      $0.dialect = dialect
    }
  }

  // MARK: commands

  /// Sends a command and returns its answer, whatever the status in it.
  ///
  /// A command that may be repeated is repeated once after a timeout; any other is not, because the
  /// chip may only have been slow. Not ended by cancellation: it is bounded by its timeout, and
  /// stopping a session has to work in a cancelled task.
  func send<C: UCICommand>(
    _ command: C, timeout: Int? = nil
  ) async throws(DriverError) -> C.Response {
    let (profile, dialect) = state.withLock { ($0.profile, $0.dialect) }
    let name = MessageCatalog.name(type: .command, opcode: C.opcode, dialect: dialect)
    let packets = Segmentation.packets(command, dialect: dialect, limit: profile.commandSegment)
    let milliseconds = timeout ?? profile.responseTimeout
    let skipped = link.statistics.octetsSkipped
    await takeTurn()
    defer { passTurn() }
    for attempt in 1...(C.isIdempotent && timeout == nil ? 2 : 1) {
      logger.trace("send", metadata: ["command": "\(name)", "attempt": "\(attempt)"])
      guard
        let payload = try await exchange(
          C.opcode, name: name, packets: packets, milliseconds: milliseconds)
      else { continue }
      var reader = unsafe PayloadReader(payload.span.bytes)
      do {
        return try C.Response(from: &reader, dialect: dialect)
      } catch {
        throw .malformedAnswer(command: name, error)
      }
    }
    throw .noAnswer(
      command: name, milliseconds: milliseconds,
      garbage: link.statistics.octetsSkipped - skipped)
  }

  /// Sends one packet as it is and returns the payload of its answer. For replay and diagnosis.
  func sendRaw(_ packet: [UInt8]) async throws(DriverError) -> [UInt8] {
    precondition(packet.count >= PacketHeader.length, "a packet has a header")
    let opcode = Opcode(GroupID(rawValue: packet[0]), packet[1])
    let name = MessageCatalog.name(type: .command, opcode: opcode, dialect: dialect)
    let milliseconds = profile.responseTimeout
    await takeTurn()
    defer { passTurn() }
    guard
      let payload = try await exchange(
        opcode, name: name, packets: [packet], milliseconds: milliseconds)
    else { throw .noAnswer(command: name, milliseconds: milliseconds, garbage: 0) }
    return payload
  }

  /// Sends a command and throws unless the chip did it.
  @discardableResult
  func request<C: UCICommand>(_ command: C) async throws(DriverError) -> C.Response {
    let response = try await send(command)
    guard response.status == .ok else {
      throw .refused(
        command: MessageCatalog.name(type: .command, opcode: C.opcode, dialect: dialect),
        response.status)
    }
    return response
  }

  /// One attempt; nil after a timeout.
  private func exchange(
    _ opcode: Opcode, name: String, packets: [[UInt8]], milliseconds: Int
  ) async throws(DriverError) -> [UInt8]? {
    let result: Result<[UInt8], DriverError>
    var timer: Task<Void, Never>?
    let id = newID()
    result = await withCheckedContinuation { continuation in
      let end: DriverError? = state.withLock { state in
        guard state.end == nil else { return state.end }
        state.outstanding = Outstanding(
          id: id, opcode: opcode, name: name, packets: packets, continuation: continuation)
        return nil
      }
      if let end {
        continuation.resume(returning: .failure(end))
        return
      }
      timer = Task { [weak self] in
        try? await Task.sleep(for: .milliseconds(milliseconds))
        if !Task.isCancelled {
          self?.complete(id, .failure(.noAnswer(command: name, milliseconds: 0, garbage: 0)))
        }
      }
      write(packets, for: id)
    }
    timer?.cancel()
    switch result {
    case .success(let payload): return payload
    case .failure(.noAnswer):
      logger.warning("no answer", metadata: ["command": "\(name)", "ms": "\(milliseconds)"])
      return nil
    case .failure(let error): throw error
    }
  }

  private func write(_ packets: [[UInt8]], for id: UInt64) {
    do throws(LinkError) {
      for packet in packets { try link.write(packet) }
    } catch {
      complete(id, .failure(.link(error)))
    }
  }

  private func complete(_ id: UInt64, _ result: Result<[UInt8], DriverError>) {
    let outstanding = state.withLock { state -> Outstanding? in
      guard state.outstanding?.id == id else { return nil }
      return state.outstanding.take()
    }
    outstanding?.continuation.resume(returning: result)
  }

  private func newID() -> UInt64 {
    state.withLock {
      $0.nextID += 1
      return $0.nextID
    }
  }

  private func takeTurn() async {
    await withCheckedContinuation { continuation in
      let free = state.withLock { state in
        if !state.turnTaken {
          state.turnTaken = true
          return true
        }
        state.turns.append(continuation)
        return false
      }
      if free { continuation.resume() }
    }
  }

  private func passTurn() {
    let next = state.withLock { state in
      let next = state.turns.popFirst()
      if next == nil { state.turnTaken = false }
      return next
    }
    next?.resume()
  }

  // MARK: what the chip says (reader's thread)

  /// Takes a whole message that is not a measurement.
  func receive(type: MessageType, opcode: Opcode, payload: RawSpan) {
    switch (type, opcode) {
    case (.response, _):
      receiveResponse(opcode, unsafe payload.withUnsafeBytes { unsafe Array($0) })
    case (.notification, .coreDeviceStatus):
      guard let status = read(DeviceStatusNotification.self, payload) else { return }
      update { chip in
        chip.device = status.state
        if status.state == .ready { chip.readyCount += 1 }
      }
      if status.state == .wokenUp { resend(because: "woke up") }
      if status.state == .error { failOutstanding { .deviceError(command: $0) } }
      report(.deviceStatus(status.state))
    case (.notification, .sessionStatus):
      guard let status = read(SessionStatusNotification.self, payload) else { return }
      update { $0.sessions[status.sessionToken] = status }
      report(.sessionStatus(status))
    case (.notification, .coreGenericError):
      guard let error = read(GenericErrorNotification.self, payload) else { return }
      if error.status == .commandRetry {
        resend(because: "asked to")
      } else {
        report(.genericError(error.status))
      }
    default:
      report(.message(Message(type: type, opcode: opcode, payload: payload, dialect: dialect)))
    }
  }

  private func read<N: UCINotification>(_ type: N.Type, _ payload: RawSpan) -> N? {
    var reader = PayloadReader(payload)
    do {
      return try N(from: &reader, dialect: .assumed)
    } catch {
      logger.warning("unreadable notification", metadata: ["cause": "\(error)"])
      return nil
    }
  }

  private func receiveResponse(_ opcode: Opcode, _ payload: [UInt8]) {
    let id = state.withLock { state -> UInt64? in
      guard let outstanding = state.outstanding, outstanding.opcode == opcode else { return nil }
      state.chip.readyAtResponse = state.chip.readyCount
      return outstanding.id
    }
    guard let id else {
      logger.warning("response nobody waits for", metadata: ["opcode": "\(opcode)"])
      report(.unexpectedResponse(opcode))
      return
    }
    if payload == [Status.commandRetry.rawValue] {
      resend(because: "asked to")
    } else {
      complete(id, .success(payload))
    }
  }

  /// Sends the outstanding command again, unchanged.
  private func resend(because reason: String) {
    enum Verdict {
      case nothing
      case again(UInt64, [[UInt8]])
      case tooOften(UInt64, DriverError)
    }
    let verdict = state.withLock { state -> Verdict in
      guard let outstanding = state.outstanding else { return .nothing }
      guard outstanding.resends < state.profile.retryLimit else {
        return .tooOften(
          outstanding.id,
          .retriesExhausted(command: outstanding.name, attempts: outstanding.resends))
      }
      state.outstanding?.resends += 1
      return .again(outstanding.id, outstanding.packets)
    }
    switch verdict {
    case .nothing: break
    case .again(let id, let packets):
      logger.debug("send again", metadata: ["because": "\(reason)"])
      write(packets, for: id)
    case .tooOften(let id, let error): complete(id, .failure(error))
    }
  }

  private func failOutstanding(_ error: (String) -> DriverError) {
    guard let (id, name) = state.withLock({ $0.outstanding.map { ($0.id, $0.name) } }) else {
      return
    }
    complete(id, .failure(error(name)))
  }

  // MARK: states

  private func update(_ change: (inout ChipState) -> Void) {
    let (chip, ready) = state.withLock { state in
      change(&state.chip)
      let chip = state.chip
      let ids = state.waiters.filter { $0.value.condition(chip) }.keys
      return (chip, ids.compactMap { state.waiters.removeValue(forKey: $0) })
    }
    for waiter in ready { waiter.continuation.resume(returning: .success(chip)) }
  }

  /// Waits until the chip's states meet a condition; nil after `milliseconds`.
  func wait(
    milliseconds: Int, until condition: @escaping @Sendable (ChipState) -> Bool
  ) async throws(DriverError) -> ChipState? {
    let id = newID()
    var timer: Task<Void, Never>?
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<ChipState, DriverError>, Never>) in
      let now: Result<ChipState, DriverError>? = state.withLock { state in
        if let end = state.end { return .failure(end) }
        if condition(state.chip) { return .success(state.chip) }
        state.waiters[id] = Waiter(condition: condition, continuation: continuation)
        return nil
      }
      if let now {
        continuation.resume(returning: now)
        return
      }
      timer = Task { [weak self] in
        try? await Task.sleep(for: .milliseconds(milliseconds))
        guard !Task.isCancelled, let self else { return }
        let waiter = self.state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(returning: .failure(.closed))
      }
    }
    timer?.cancel()
    switch result {
    case .success(let chip): return chip
    case .failure(let error):
      // `.closed` is the timer's, unless the device really was closed.
      if error == .closed, state.withLock({ $0.end == nil }) { return nil }
      throw error
    }
  }

  /// Forgets a session whose end was seen, so that the map does not grow.
  func forget(_ token: UInt32) {
    state.withLock { $0.chip.sessions[token] = nil }
  }

  // MARK: the end

  /// Fails everything that waits, now and later.
  func end(_ error: DriverError) {
    let (outstanding, waiters) = state.withLock { state in
      state.end = state.end ?? error
      defer { state.waiters = [:] }
      return (state.outstanding.take(), Array(state.waiters.values))
    }
    outstanding?.continuation.resume(returning: .failure(error))
    for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
  }
}
