// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Logging
import System
import UCI
import UWB
import Varlink

/// The chip that a client sees after `Attach`: it speaks UCI, and has only the client's sessions.
///
/// Each session becomes a shared session of the service when the client starts it.
@ServiceActor final class VirtualChip: VarlinkUpgrade {
  private struct Session {
    var type: SessionType
    var parameters: [TLV] = []
    /// The ranging rounds of an anchor or a tag of downlink TDoA.
    var rounds: [SessionConfiguration.DownlinkAnchor.Round] = []
    var state = SessionState.initialised
    /// The session of the service while this session is active.
    var shared: SharedSession?
  }

  private struct Command: Sendable {
    var opcode: Opcode
    var payload: [UInt8]
  }

  /// The rejection of a command, with the status of its response.
  private struct Refused: Error { var status: Status }

  let chip: SharedChip
  private let device: UWBDevice
  private weak var client: Client?
  private let service: Service
  /// The time for which sessions outlive a client that disconnects without ending them.
  private let linger: Duration
  private var sessions: [UInt32: Session] = [:]
  private var input: [UInt8] = []
  private var segments: [UInt8] = []
  private let commands: AsyncStream<Command>.Continuation
  private let stream: AsyncStream<Command>
  private var waiting = 0
  /// Whether the remaining packets of a notification are dropped, because its first packet was.
  private var drops = false

  /// The greatest number of sessions, which is more than known chips allow.
  private static let mostSessions = 32
  /// The number of commands that may wait. Drivers send one command at a time.
  private static let mostCommands = 64
  /// The length of the longest command in bytes.
  private static let longestCommand = 4_096
  /// The number of unsent bytes above which notifications are dropped.
  private static let mostBytes = 262_144

  init(
    _ chip: SharedChip, _ device: UWBDevice, _ client: Client, _ service: Service, linger: Duration
  ) {
    (self.chip, self.device, self.client, self.service) = (chip, device, client, service)
    self.linger = linger
    (stream, commands) = AsyncStream<Command>.makeStream()
  }

  func start() {
    chip.addWatchers(1)
    notify(.coreDeviceStatus, [DeviceState.ready.rawValue])
    Task { [weak self, stream] in
      for await command in stream {
        guard let self else { return }
        await self.execute(command)
        self.waiting -= 1
      }
    }
  }

  /// Stops the virtual chip after the client has disconnected. The connection releases the
  /// sessions.
  func end() {
    chip.addWatchers(-1)
    commands.finish()
  }

  // MARK: from the program

  func receive(_ bytes: ArraySlice<UInt8>) {
    input += bytes
    var rest = input[...]
    while rest.count >= PacketHeader.length {
      let beginning = Array(rest.prefix(PacketHeader.length))
      guard
        let header = try? unsafe PacketHeader(
          parsing: beginning.span.bytes, dataLengthInByte3: device.dialect.dataLengthInByte3)
      else { break }
      let length = PacketHeader.length + header.payloadLength
      guard rest.count >= length else { break }
      take(header, rest.dropFirst(PacketHeader.length).prefix(header.payloadLength))
      rest = rest.dropFirst(length)
    }
    input = Array(rest)
  }

  /// Queues complete commands. Data packets are dropped, because the virtual chip grants no credit.
  private func take(_ header: PacketHeader, _ payload: ArraySlice<UInt8>) {
    guard header.type == .command else { return }
    segments += payload
    guard segments.count <= Self.longestCommand, waiting < Self.mostCommands else {
      client?.close()
      return
    }
    guard !header.moreFollows else { return }
    waiting += 1
    commands.yield(Command(opcode: header.opcode, payload: segments))
    segments = []
  }

  private func execute(_ command: Command) async {
    do throws(Refused) { try await execute(command.opcode, command.payload) } catch {
      respond(command.opcode, [error.status.rawValue])
    }
  }

  private func execute(_ opcode: Opcode, _ payload: [UInt8]) async throws(Refused) {
    switch opcode {
    case .coreDeviceReset:
      for id in sessions.keys.sorted() { await stop(id) }
      sessions = [:]
      respond(opcode, [Status.ok.rawValue])
      notify(.coreDeviceStatus, [DeviceState.ready.rawValue])
    // The reply comes from memory, so that new clients do not disturb a chip that ranges.
    case .coreGetDeviceInfo:
      let response = GetDeviceInfo.Response(status: .ok, body: device.info)
      respond(opcode, response.encoded(dialect: device.dialect))
    case .coreGetCapsInfo:
      let response = TLVListResponse(status: .ok, parameters: device.capabilities)
      respond(opcode, response.encoded(dialect: device.dialect))
    case .coreGetConfig, .coreQueryUWBSTimestamp:
      respond(opcode, try await forward(opcode, payload))
    case .sessionInit:
      let command = try read(SessionInit.self, payload)
      guard sessions[command.sessionID] == nil else { throw Refused(status: .sessionDuplicate) }
      guard sessions.count < Self.mostSessions else { throw Refused(status: .maxSessionsExceeded) }
      sessions[command.sessionID] = Session(type: command.type)
      // The response has no handle, so that the session ID serves as the token.
      respond(opcode, [Status.ok.rawValue])
      report(command.sessionID, .initialised)
    case .sessionDeinit:
      let id = try read(SessionDeinit.self, payload).sessionToken
      _ = try session(id)
      await stop(id)
      sessions[id] = nil
      respond(opcode, [Status.ok.rawValue])
      report(id, .deinitialised)
    case .sessionSetAppConfig: try await configure(payload)
    case .sessionGetAppConfig:
      let command = try read(GetAppConfig.self, payload)
      let session = try session(command.sessionToken)
      if let shared = session.shared { return try await forward(opcode, payload, shared) }
      let found = session.parameters.filter { command.ids.isEmpty || command.ids.contains($0.id) }
      let response = TLVListResponse(status: .ok, parameters: found)
      respond(opcode, response.encoded(dialect: device.dialect))
    case .sessionGetCount: respond(opcode, [Status.ok.rawValue, UInt8(sessions.count)])
    case .sessionGetState:
      let session = try session(try read(GetSessionState.self, payload).sessionToken)
      respond(opcode, [Status.ok.rawValue, session.state.rawValue])
    case UpdateDTTagRounds.opcode, UpdateDTAnchorRounds.opcode: try setRounds(opcode, payload)
    case .sessionStart: try await start(try read(SessionStart.self, payload).sessionToken)
    case .sessionStop:
      let id = try read(SessionStop.self, payload).sessionToken
      guard try session(id).state == .active else { throw Refused(status: .rejected) }
      await stop(id)
      respond(opcode, [Status.ok.rawValue])
      report(id, .idle)
    case .sessionGetRangingCount, .sessionUpdateMulticastList:
      try await forwardToSession(opcode, payload)
    default:
      // Chip-wide and unknown commands are not available through a shared chip.
      throw Refused(status: opcode.group == .core ? .rejected : .unknownOID)
    }
  }

  /// Keeps the ranging rounds of downlink TDoA for the start of a session. A ranging session may
  /// have other clients, so that its rounds do not change.
  private func setRounds(_ opcode: Opcode, _ payload: [UInt8]) throws(Refused) {
    let id: UInt32
    let rounds: [SessionConfiguration.DownlinkAnchor.Round]
    if opcode == UpdateDTTagRounds.opcode {
      let command = try read(UpdateDTTagRounds.self, payload)
      (id, rounds) = (command.sessionToken, command.rounds.map { .init($0, .responder) })
    } else {
      let command = try read(UpdateDTAnchorRounds.self, payload)
      id = command.sessionToken
      rounds = command.rounds.map { round in
        let slots = round.slotScheduling == 1 ? round.slots : nil
        return .init(
          round.index,
          round.role == 1 ? .initiator(responders: round.responders, slots: slots) : .responder)
      }
    }
    guard try session(id).shared == nil else { throw Refused(status: .sessionActive) }
    sessions[id]?.rounds = rounds
    let response = RangingRoundsResponse(status: .ok, failedRounds: [])
    respond(opcode, response.encoded(dialect: device.dialect))
  }

  /// Forwards a command whose payload begins with a session ID.
  private func forwardToSession(_ opcode: Opcode, _ payload: [UInt8]) async throws(Refused) {
    guard payload.count >= 4 else { throw Refused(status: .syntaxError) }
    let id = UInt32(littleEndianBytes: payload.prefix(4))
    guard let shared = try session(id).shared else {
      throw Refused(status: .sessionNotConfigured)
    }
    if opcode == .sessionUpdateMulticastList { try checkAlone(shared) }
    try await forward(opcode, payload, shared)
  }

  private func read<C: UCICommand>(_ type: C.Type, _ payload: [UInt8]) throws(Refused) -> C {
    do throws(PayloadError) {
      var reader = unsafe PayloadReader(payload.span.bytes)
      return try C(from: &reader, dialect: device.dialect)
    } catch { throw Refused(status: .syntaxError) }
  }

  private func session(_ id: UInt32) throws(Refused) -> Session {
    guard let session = sessions[id] else { throw Refused(status: .sessionNotExist) }
    return session
  }

  private func configure(_ payload: [UInt8]) async throws(Refused) {
    let command = try read(SetAppConfig.self, payload)
    let id = command.sessionToken
    var session = try session(id)
    if let shared = session.shared {
      try checkAlone(shared)
      return try await forward(.sessionSetAppConfig, payload, shared)
    }
    let given = Set(command.parameters.map(\.id))
    session.parameters = session.parameters.filter { !given.contains($0.id) } + command.parameters
    let isFirst = session.state == .initialised
    session.state = .idle
    sessions[id] = session
    respond(.sessionSetAppConfig, [Status.ok.rawValue, 0])
    if isFirst { report(id, .idle) }
  }

  private func start(_ id: UInt32) async throws(Refused) {
    let session = try session(id)
    guard session.state != .active else { throw Refused(status: .sessionActive) }
    guard session.state == .idle, let client else { throw Refused(status: .sessionNotConfigured) }
    let profile = SessionProfile(
      sessionID: id, type: session.type, parameters: session.parameters, rounds: session.rounds)
    let shared: SharedSession
    do throws(Refusal) {
      shared = try await client.start(profile, on: chip, .everyone, linger: linger).session
      client.refusals[id] = nil
    } catch {
      client.refusals[id] = error.error
      service.logger.info(
        "session refused", metadata: ["session": "\(id)", "reason": "\(error.error.reason)"])
      throw Refused(status: error.status)
    }
    sessions[id]?.state = .active
    sessions[id]?.shared = shared
    respond(.sessionStart, [Status.ok.rawValue])
    report(id, .active)
  }

  /// Releases a session. Waits until it has ended, unless other clients hold it.
  private func stop(_ id: UInt32) async {
    guard let shared = sessions[id]?.shared, let client else { return }
    sessions[id]?.shared = nil
    sessions[id]?.state = .idle
    client.release(shared)
    await shared.waitUntilEnded()
  }

  /// Checks that no other client holds a session that is about to change.
  ///
  /// - Throws: `Refused` with the status REJECTED.
  private func checkAlone(_ session: SharedSession) throws(Refused) {
    guard session.owners.count == 1 else { throw Refused(status: .rejected) }
  }

  /// Forwards a command to the chip with the session ID replaced by the chip's session token.
  private func forward(
    _ opcode: Opcode, _ payload: [UInt8], _ session: SharedSession
  ) async throws(Refused) {
    guard let token = session.token else { throw Refused(status: .sessionNotExist) }
    respond(
      opcode, try await forward(opcode, token.littleEndianBytes + payload.dropFirst(4)))
  }

  private func forward(_ opcode: Opcode, _ payload: [UInt8]) async throws(Refused) -> [UInt8] {
    guard payload.count <= 255 else { throw Refused(status: .syntaxError) }
    do throws(DriverError) { return try await device.send(opcode, payload: payload) } catch {
      throw Refused(status: .failed)
    }
  }

  // MARK: to the program

  /// Forwards a notification about a session, or drops it while too many bytes are unsent.
  func relay(_ packet: [UInt8], of session: SharedSession, begins: Bool) {
    guard let client, sessions[session.id]?.shared === session else { return }
    if begins { drops = client.connection.backlog > Self.mostBytes }
    if drops { client.connection.closeIfStuck() } else { client.connection.send(packet) }
  }

  /// Reports a session that ended by itself. If the cause concerns the whole chip, closes the
  /// connection instead.
  func ended(_ session: SharedSession) {
    guard sessions[session.id]?.shared === session else { return }
    if session.cause?.concernsChip == true {
      client?.close()
      return
    }
    sessions[session.id]?.shared = nil
    sessions[session.id]?.state = .idle
    report(session.id, .idle, session.cause?.endReason ?? .managementCommand)
  }

  private func respond(_ opcode: Opcode, _ payload: [UInt8]) {
    send(.response, opcode, payload)
  }

  private func notify(_ opcode: Opcode, _ payload: [UInt8]) {
    send(.notification, opcode, payload)
  }

  private func report(
    _ id: UInt32, _ state: SessionState, _ reason: StateChangeReason = .managementCommand
  ) {
    let status = SessionStatusNotification(sessionToken: id, state: state, reason: reason)
    notify(.sessionStatus, status.encoded(dialect: device.dialect))
  }

  private func send(_ type: MessageType, _ opcode: Opcode, _ payload: [UInt8]) {
    for packet in Segmentation.packets(type: type, opcode: opcode, payload: payload) {
      client?.connection.send(packet)
    }
  }
}
