// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import Glibc
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
    /// How often the controlees of a session were reported on, and the last report.
    var multicast: [UInt32: (count: Int, last: MulticastListNotification)] = [:]
  }

  /// Sessions of which states are kept: more than any chip has, and no more than a chip that makes
  /// tokens up can fill memory with.
  static let sessionLimit = 64

  struct Outstanding {
    var id: UInt64
    var opcode: Opcode
    var name: String
    var packets: [[UInt8]]
    var resends = 0
    var continuation: CheckedContinuation<Result<[UInt8], DriverError>, Never>
  }

  struct Waiter {
    var condition: @Sendable (ChipState) -> Bool
    var continuation: CheckedContinuation<Result<ChipState, DriverError>, Never>
  }

  struct State {
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

  let link: Link
  let logger: Logger
  let state = Locked(State())
  let tap: UWBDevice.PacketTap?
  let report: @Sendable (DeviceEvent) -> Void

  init(
    link: Link, logger: Logger, tap: UWBDevice.PacketTap? = nil,
    report: @escaping @Sendable (DeviceEvent) -> Void
  ) {
    self.link = link
    self.logger = logger
    self.tap = tap
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
  ///
  /// - Parameters:
  ///   - timeout: milliseconds, in the place of the profile's; then nothing is repeated.
  ///   - patience: milliseconds that the answer may take longer as long as octets keep arriving:
  ///     it may stand in line behind what a chip has kept for a host that did not read.
  func send<C: UCICommand>(
    _ command: C, timeout: Int? = nil, patience: Int = 0
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
          C.opcode, name: name, packets: packets, milliseconds: milliseconds, patience: patience)
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

  /// A backlog that pauses for so many milliseconds is over: Qorvo's firmware sends a part of it
  /// every 5 ms.
  private static let backlogPause = 100

  /// One attempt; nil after a timeout.
  private func exchange(
    _ opcode: Opcode, name: String, packets: [[UInt8]], milliseconds: Int, patience: Int = 0
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
      // Weak: a timer must not keep the link open when its owner lets go of it.
      timer = Task { [weak self] in
        try? await Task.sleep(for: .milliseconds(milliseconds))
        if Task.isCancelled { return }
        var left = patience
        var seen = self?.link.statistics.framesRead
        while left > 0, !Task.isCancelled {
          try? await Task.sleep(for: .milliseconds(Self.backlogPause))
          left -= Self.backlogPause
          let now = self?.link.statistics.framesRead
          if now == seen { break }
          seen = now
        }
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

  func write(_ packets: [[UInt8]], for id: UInt64) {
    do throws(LinkError) {
      for packet in packets {
        if let tap { unsafe tap(.outbound, packet.span.bytes, Self.now()) }
        try link.write(packet)
      }
    } catch {
      complete(id, .failure(.link(error)))
    }
  }

  /// CLOCK_MONOTONIC in nanoseconds.
  private static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  func complete(_ id: UInt64, _ result: Result<[UInt8], DriverError>) {
    let outstanding = state.withLock { state -> Outstanding? in
      guard state.outstanding?.id == id else { return nil }
      return state.outstanding.take()
    }
    outstanding?.continuation.resume(returning: result)
  }

  func newID() -> UInt64 {
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
