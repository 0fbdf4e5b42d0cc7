// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
internal import Logging
internal import UCI
internal import UWBLink

/// The bytes of a command, and the rules for its answer.
struct Request: Sendable {
  var opcode: Opcode
  var name: String
  /// The packets, which are the same at each attempt.
  var packets: [[UInt8]]
  /// Whether sending the command twice has the same effect as sending it once.
  var isIdempotent: Bool
  /// The time-out of the answer.
  var milliseconds: Int

  init<C: UCICommand>(_ command: C, _ profile: DeviceProfile, _ dialect: Dialect) {
    opcode = C.opcode
    name = MessageCatalog.name(type: .command, opcode: C.opcode, dialect: dialect)
    packets = Segmentation.packets(command, dialect: dialect, limit: profile.commandSegment)
    isIdempotent = C.isIdempotent
    milliseconds = profile.responseTimeout(for: C.opcode)
  }

  /// Creates a request from one unchanged packet.
  init(packet: [UInt8], _ profile: DeviceProfile, _ dialect: Dialect) {
    precondition(packet.count >= PacketHeader.length, "a packet has a header")
    opcode = Opcode(GroupID(rawValue: packet[0]), packet[1])
    name = MessageCatalog.name(type: .command, opcode: opcode, dialect: dialect)
    packets = [packet]
    isIdempotent = false
    milliseconds = profile.responseTimeout(for: opcode)
  }
}

extension CommandEngine {
  /// Sends a command and returns its answer with any status.
  ///
  /// A command that may be repeated is repeated once after a time-out. Other commands are not
  /// repeated, because the chip may only have been slow. For these, the engine waits for the late
  /// answer by sending a query and waiting for its answer. Cancellation does not end the wait: the
  /// time-out limits it, and a cancelled task has to be able to stop a session.
  ///
  /// - Parameters:
  ///   - timeout: the time-out in milliseconds in place of the profile's time-out; the command is
  ///     then never repeated.
  ///   - patience: additional milliseconds to wait as long as bytes keep arriving. The chip may
  ///     first send packets that it stored while no host read them.
  func send<C: UCICommand>(
    _ command: C, timeout: Int? = nil, patience: Int = 0, from sender: Sender = .caller
  ) async throws(DriverError) -> C.Response {
    let (profile, dialect) = state.withLock { ($0.profile, $0.dialect) }
    var request = Request(command, profile, dialect)
    request.milliseconds = timeout ?? request.milliseconds
    let skipped = statistics.bytesSkipped
    await commandMutex.lock()
    defer { commandMutex.unlock() }
    try admit(sender)
    // The recovery's queries are always the same, and a lost chip answers only after a reset. So
    // they do not wait for late responses.
    if sender == .caller || !request.isIdempotent { try await drainResponses(before: request) }
    state.withLock { $0.responses.forgetLate() }
    var payload = try await exchange(request, patience: patience)
    if payload == nil, request.isIdempotent, timeout == nil {
      payload = try await exchange(request, patience: patience)
    } else if payload == nil, !request.isIdempotent {
      payload = try await lateAnswer(to: request)
    }
    guard let payload else {
      throw .noAnswer(
        command: request.name, milliseconds: request.milliseconds,
        garbage: statistics.bytesSkipped - skipped)
    }
    do throws(PayloadError) {
      return try read(payload, dialect)
    } catch {
      // A refusal is recognised even if the rest of the response is malformed.
      guard payload.first != Status.ok.rawValue,
        let refusal: C.Response = try? read(Array(payload.prefix(1)), dialect)
      else { throw .malformedAnswer(command: request.name, error) }
      return refusal
    }
  }

  private func read<R: UCIResponse>(
    _ payload: [UInt8], _ dialect: Dialect
  ) throws(PayloadError) -> R {
    var reader = unsafe PayloadReader(payload.span.bytes)
    return try R(from: &reader, dialect: dialect)
  }

  /// Sends one packet unchanged, even while a command is outstanding, and returns the payload of
  /// the first answer to it. For replay and diagnosis.
  func sendRaw(_ packet: [UInt8]) async throws(DriverError) -> [UInt8] {
    let request = state.withLock { Request(packet: packet, $0.profile, $0.dialect) }
    await commandMutex.lock()
    defer { commandMutex.unlock() }
    try admit(.caller)
    guard let payload = try await exchange(request) else {
      throw .noAnswer(command: request.name, milliseconds: request.milliseconds, garbage: 0)
    }
    return payload
  }

  /// Sends a command and throws unless the chip carried it out.
  @discardableResult
  func request<C: UCICommand>(
    _ command: C, from sender: Sender = .caller
  ) async throws(DriverError) -> C.Response {
    let response = try await send(command, from: sender)
    guard response.status == .ok else {
      throw .refused(
        command: MessageCatalog.name(type: .command, opcode: C.opcode, dialect: dialect),
        response.status, by: isService ? "service" : "device")
    }
    return response
  }

  /// Whether a service answers for the chip.
  private var isService: Bool {
    if case .service = state.withLock({ $0.link?.endpoint }) { true } else { false }
  }

  private func admit(_ sender: Sender) throws(DriverError) {
    let (end, interruption) = state.withLock { ($0.end, $0.interruption) }
    if let end { throw end }
    if sender == .caller, interruption != nil { throw .recovering }
  }

  // MARK: late responses

  /// The queries that every chip answers at once, and that do not change its state.
  private static let questions: [@Sendable (DeviceProfile, Dialect) -> Request] = [
    { Request(GetDeviceInfo(), $0, $1) }, { Request(GetSessionCount(), $0, $1) },
    { Request(GetCapabilities(), $0, $1) },
  ]

  /// Ensures that no late response is taken for the response to `request`.
  ///
  /// A response to another opcode cannot be mistaken for it. A command with an effect waits until
  /// no response is outstanding. The reason is the request to repeat a command, which names no
  /// command. A late request for the previous command would repeat the new one.
  private func drainResponses(before request: Request) async throws(DriverError) {
    let isClear = state.withLock { state in
      request.isIdempotent ? !state.responses.contains(request.opcode) : state.responses.isEmpty
    }
    if !isClear { try await drainResponses() }
  }

  /// Sends a query and waits for its response. Responses to earlier commands arrive before it or
  /// never.
  private func drainResponses() async throws(DriverError) {
    let question = state.withLock { state in
      let all = Self.questions.map { $0(state.profile, state.dialect) }
      // If all queries are unanswered, the chip has failed rather than being slow. The first query
      // is sent again. If the chip works again, a late response to the earlier copy is valid, too:
      // it also follows every caller's command.
      return all.first { !state.responses.contains($0.opcode) } ?? all[0]
    }
    logger.debug("ask, to identify late answers", metadata: ["command": "\(question.name)"])
    guard try await exchange(question) != nil else {
      throw .noAnswer(command: question.name, milliseconds: question.milliseconds, garbage: 0)
    }
    state.withLock { $0.responses.removeAll() }
  }

  /// Returns the late answer to a command that has just timed out. Returns nil if the chip answers
  /// other commands, but not this one. The caller then has to check the command's effect before
  /// sending it again.
  private func lateAnswer(to request: Request) async throws(DriverError) -> [UInt8]? {
    do { try await drainResponses() } catch { return nil }
    let late = state.withLock { $0.responses.late }
    guard let late, late.opcode == request.opcode else { return nil }
    // The chip requested a repetition, so it has not carried out the command.
    if late.payload.first == Status.commandRetry.rawValue { return try await exchange(request) }
    return late.payload
  }

  // MARK: one attempt

  /// Milliseconds without a frame after which the backlog has ended. Qorvo's firmware sends a part
  /// of it every 5 ms.
  private static let backlogPause = 100

  /// Makes one attempt; returns nil after a time-out.
  private func exchange(
    _ request: Request, patience: Int = 0
  ) async throws(DriverError) -> [UInt8]? {
    logger.trace("send", metadata: ["command": "\(request.name)"])
    let id = newID()
    let outcome = await withCheckedContinuation { continuation in
      let end: DriverError? = state.withLock { state in
        guard state.end == nil else { return state.end }
        state.outstanding = Outstanding(id: id, request: request, continuation: continuation)
        // Only the newest message can be sent again, so a command replaces the data segment.
        state.segment = nil
        return nil
      }
      if let end {
        continuation.resume(returning: .failure(end))
        return
      }
      expire(id, after: request.milliseconds, patience: patience, seen: nil)
      write(request.packets, for: id)
    }
    switch outcome {
    case .answer(let payload): return payload
    case .failure(let error): throw error
    case .timeout:
      logger.warning(
        "no answer", metadata: ["command": "\(request.name)", "ms": "\(request.milliseconds)"])
      return nil
    }
  }

  /// Completes a command with a time-out, but not while the chip still sends its backlog.
  ///
  /// - Parameters:
  ///   - milliseconds: the time until the next check.
  ///   - patience: the additional milliseconds that the backlog may take.
  ///   - seen: the number of frames at the last check; nil before the first check.
  private func expire(_ id: UInt64, after milliseconds: Int, patience: Int, seen: UInt64?) {
    // A weak reference, so that neither a timer nor a write keeps the engine alive.
    let timer = clock.timer(.milliseconds(milliseconds)) { [weak self] in
      guard let self else { return }
      let now = statistics.framesRead
      guard patience > 0, seen != now else { return complete(id, .timeout) }
      expire(
        id, after: Self.backlogPause, patience: patience - Self.backlogPause, seen: now)
    }
    state.withLock { if $0.outstanding?.id == id { $0.outstanding?.timer = timer } }
  }

  func write(_ packets: [[UInt8]], for id: UInt64) {
    write(packets) { [weak self] error in
      if let error { self?.complete(id, .failure(.link(error))) }
    }
  }

  /// Writes packets on a thread of the link, after earlier packets. Calls `completion` on that
  /// thread with the error, if any. Returns at once.
  func write(_ packets: [[UInt8]], completion: @escaping @Sendable (LinkError?) -> Void) {
    guard let link = state.withLock({ $0.link }) else {
      return completion(LinkError(.deviceGone, endpoint: "the device"))
    }
    let willWrite = tap.map { tap in
      { @Sendable (packet: RawSpan) in tap(.outbound, packet, Self.now()) }
    }
    link.write(packets, willWrite: willWrite, completion: completion)
  }

  /// Returns a clock's time in nanoseconds.
  static func now(_ clock: clockid_t = CLOCK_MONOTONIC) -> UInt64 {
    nanoseconds(of: clock)
  }

  func complete(_ id: UInt64, _ outcome: Outcome) {
    let outstanding = state.withLock { state -> Outstanding? in
      guard state.outstanding?.id == id else { return nil }
      if case .timeout = outcome, let opcode = state.outstanding?.request.opcode {
        state.responses.add(opcode)
      }
      return state.outstanding.take()
    }
    outstanding?.continuation.resume(returning: outcome)
  }
}
