// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  /// Group 1: creation, configuration and state of sessions.
  mutating func sessionConfig(
    _ opcode: Opcode, _ payload: [UInt8], at now: UInt64
  ) throws(PayloadError) {
    switch opcode {
    case .sessionInit: initialise(try read(SessionInit.self, payload))
    case .sessionDeinit: deinitialise(try read(SessionDeinit.self, payload).sessionToken, at: now)
    case .sessionSetAppConfig: configure(try read(SetAppConfig.self, payload))
    case .sessionGetAppConfig: reportConfiguration(try read(GetAppConfig.self, payload))
    case .sessionGetCount:
      _ = try read(GetSessionCount.self, payload)
      respond(
        opcode, SessionCountResponse(status: .ok, count: UInt8(sessions.count)).encoded())
    case .sessionGetState:
      let token = try read(GetSessionState.self, payload).sessionToken
      guard let index = session(token) else { return respond(opcode, .sessionNotExist) }
      respond(
        opcode, SessionStateResponse(status: .ok, state: sessions[index].state).encoded())
    case .sessionUpdateMulticastList: try updateMulticastList(payload)
    case .sessionQueryDataSize where profile.dialect.generation >= .fira2:
      reportDataSize(try read(QueryDataSize.self, payload))
    default: respond(opcode, .unknownOID)
    }
  }

  mutating func sessionControl(
    _ opcode: Opcode, _ payload: [UInt8], at now: UInt64
  ) throws(PayloadError) {
    switch opcode {
    case .sessionStart: start(try read(SessionStart.self, payload).sessionToken, at: now)
    case .sessionStop: stop(try read(SessionStop.self, payload).sessionToken)
    case .sessionGetRangingCount:
      let token = try read(GetRangingCount.self, payload).sessionToken
      guard let index = session(token) else { return respond(opcode, .sessionNotExist) }
      guard sessions[index].state != .initialised else {
        return respond(opcode, .sessionNotConfigured)
      }
      respond(
        opcode, RangingCountResponse(status: .ok, count: sessions[index].rounds).encoded())
    default: respond(opcode, .unknownOID)
    }
  }

  func session(_ token: UInt32) -> Int? { sessions.firstIndex { $0.token == token } }

  private mutating func initialise(_ command: SessionInit) {
    let opcode = Opcode.sessionInit
    guard command.type.rawValue <= 5 || command.type == .deviceTest else {
      return respond(opcode, .invalidParameter)
    }
    guard let index = addSession(command.sessionID, command.type, opcode) else { return }
    respond(
      opcode,
      SessionInitResponse(
        status: .ok, handle: profile.usesHandles ? sessions[index].token : nil
      ).encoded())
    move(index, to: .initialised)
  }

  /// Creates a session; otherwise sends the cause in the response to `opcode` and returns nil.
  mutating func addSession(_ id: UInt32, _ type: SessionType, _ opcode: Opcode) -> Int? {
    guard !sessions.contains(where: { $0.id == id }) else {
      respond(opcode, profile.duplicateSession)
      return nil
    }
    guard sessions.count < profile.maximumSessions else {
      respond(opcode, .maxSessionsExceeded)
      return nil
    }
    let token = profile.usesHandles ? nextHandle : id
    nextHandle &+= 1
    sessions.append(SimulatedSession(id: id, token: token, type: type))
    return sessions.count - 1
  }

  private mutating func deinitialise(_ token: UInt32, at now: UInt64) {
    let opcode = Opcode.sessionDeinit
    guard let index = session(token) else { return respond(opcode, .sessionNotExist) }
    if sessions[index].type == .deviceTest { endRadioTest(at: now) }
    endRanging(index)
    sessions[index].state = .deinitialised
    let isQuiet = !sessions.contains { $0.state == .active }
    if profile.ready == .beforeDeinitResponse, isQuiet { report(.ready) }
    respond(opcode, .ok)
    move(index, to: .deinitialised)
    sessions.remove(at: index)
    if profile.ready == .afterStop, isQuiet { report(.ready) }
  }

  private mutating func start(_ token: UInt32, at now: UInt64) {
    let opcode = Opcode.sessionStart
    guard let index = session(token) else { return respond(opcode, .sessionNotExist) }
    let session = sessions[index]
    if session.state == .active { return respond(opcode, .sessionActive) }
    guard session.state == .idle else { return respond(opcode, .sessionNotConfigured) }
    let setup = RangingSetup(session)
    var first = now
    let initiation = session.number(AppParameter.initiationTime)
    if initiation > 0, setup.isController {
      let own = microseconds(at: now)
      let absolute =
        profile.dialect.generation == .fira1 ? own + initiation * 1_000 : initiation
      guard absolute >= own else { return respond(opcode, .initiationTimeTooOld) }
      first += (absolute - own) * 1_000
    }
    respond(opcode, .ok)
    if let reason = session.unusable(setup) { return move(index, to: .idle, reason: reason) }
    sessions[index].setup = setup
    sessions[index].sequenceNumber = 0
    sessions[index].rounds = 0
    sessions[index].failures = 0
    sessions[index].wasInside = nil
    sessions[index].data = SessionData(hasCredit: true)
    // A controller's first round ends after its slots; a controlee listens for a whole block.
    sessions[index].deadline =
      first + (setup.isController ? setup.slot * UInt64(setup.slotsPerRound) : blockLength(setup))
    if profile.deviceStatusFirst { report(.active) }
    move(index, to: .active)
    report(.active)
  }

  private mutating func stop(_ token: UInt32) {
    let opcode = Opcode.sessionStop
    guard let index = session(token) else { return respond(opcode, .sessionNotExist) }
    switch sessions[index].state {
    case .active: break
    case .initialised: return respond(opcode, .sessionNotConfigured)
    default: return respond(opcode, .rejected)
    }
    stops += 1
    if profile.stopRetryPeriod > 0, stops.isMultiple(of: profile.stopRetryPeriod) {
      return askAgain()
    }
    respond(opcode, .ok)
    leaveActive(index, reason: .managementCommand)
  }

  /// From ACTIVE to IDLE.
  mutating func leaveActive(_ index: Int, reason: StateChangeReason) {
    endRanging(index)
    move(index, to: .idle, reason: reason)
    if profile.ready == .afterStop, !sessions.contains(where: { $0.state == .active }) {
      report(.ready)
    }
  }

  /// Tells the controlees with the next control message if in-band termination is enabled.
  private mutating func endRanging(_ index: Int) {
    let session = sessions[index]
    if session.state == .active, let setup = session.setup, setup.isController,
      setup.terminationAttempts > 0
    {
      terminations.append(
        Termination(
          setup: setup, destinations: session.destinations, time: session.deadline))
    }
    sessions[index].setup = nil
  }

  /// The duration of a block of this chip, in nanoseconds of the scene.
  func blockLength(_ setup: RangingSetup) -> UInt64 {
    let own = Double(setup.rangingDuration * (1 + setup.stride)) * 1e6
    return UInt64((own / (1 + clockOffset * 1e-6)).rounded())
  }
}
