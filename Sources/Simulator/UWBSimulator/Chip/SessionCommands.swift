// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  /// Handles group 1: creation, configuration and state of sessions.
  mutating func sessionConfig(_ opcode: Opcode, _ payload: [UInt8], at now: UInt64) throws {
    switch opcode {
    case .sessionInit: try initialise(try read(SessionInit.self, payload))
    case .sessionDeinit:
      try deinitialise(try read(SessionDeinit.self, payload).sessionToken, at: now)
    case .sessionSetAppConfig: try configure(try read(SetAppConfig.self, payload))
    case .sessionGetAppConfig: try reportConfiguration(try read(GetAppConfig.self, payload))
    case .sessionGetCount:
      _ = try read(GetSessionCount.self, payload)
      respond(opcode, SessionCountResponse(status: .ok, count: UInt8(sessions.count)))
    case .sessionGetState:
      let index = try known(try read(GetSessionState.self, payload).sessionToken)
      respond(opcode, SessionStateResponse(status: .ok, state: sessions[index].state))
    case .sessionUpdateMulticastList: try updateMulticastList(payload)
    case UpdateDTAnchorRounds.opcode where profile.roles.contains(7):
      try updateAnchorRounds(try read(UpdateDTAnchorRounds.self, payload))
    case UpdateDTTagRounds.opcode where profile.roles.contains(8):
      try updateTagRounds(try read(UpdateDTTagRounds.self, payload))
    case .sessionQueryDataSize where profile.dialect.generation >= .fira2:
      reportDataSize(try read(QueryDataSize.self, payload))
    default: throw Refusal(.unknownOID)
    }
  }

  mutating func sessionControl(_ opcode: Opcode, _ payload: [UInt8], at now: UInt64) throws {
    switch opcode {
    case .sessionStart: try start(try read(SessionStart.self, payload).sessionToken, at: now)
    case .sessionStop: try stop(try read(SessionStop.self, payload).sessionToken)
    case .sessionGetRangingCount:
      let index = try known(try read(GetRangingCount.self, payload).sessionToken)
      guard sessions[index].state != .initialised else { throw Refusal(.sessionNotConfigured) }
      respond(opcode, RangingCountResponse(status: .ok, count: sessions[index].rounds))
    default: throw Refusal(.unknownOID)
    }
  }

  func session(_ token: UInt32) -> Int? { sessions.firstIndex { $0.token == token } }

  func known(_ token: UInt32) throws(Refusal) -> Int {
    guard let index = session(token) else { throw Refusal(.sessionNotExist) }
    return index
  }

  private mutating func initialise(_ command: SessionInit) throws(Refusal) {
    guard command.type.rawValue <= 5 || command.type == .deviceTest else {
      throw Refusal(.invalidParameter)
    }
    let index = try addSession(command.sessionID, command.type)
    let handle = profile.usesHandles ? sessions[index].token : nil
    respond(.sessionInit, SessionInitResponse(status: .ok, handle: handle))
    move(index, to: .initialised)
  }

  mutating func addSession(_ id: UInt32, _ type: SessionType) throws(Refusal) -> Int {
    guard !sessions.contains(where: { $0.id == id }) else {
      throw Refusal(profile.duplicateSession)
    }
    guard sessions.count < profile.maximumSessions else { throw Refusal(.maxSessionsExceeded) }
    let token = profile.usesHandles ? nextHandle : id
    nextHandle &+= 1
    sessions.append(SimulatedSession(id: id, token: token, type: type))
    return sessions.count - 1
  }

  private mutating func deinitialise(_ token: UInt32, at now: UInt64) throws(Refusal) {
    let index = try known(token)
    if sessions[index].type == .deviceTest { endRadioTest(at: now) }
    endRanging(index)
    sessions[index].state = .deinitialised
    let isQuiet = !sessions.contains { $0.state == .active }
    if profile.ready == .beforeDeinitResponse, isQuiet { report(.ready) }
    respond(.sessionDeinit, .ok)
    move(index, to: .deinitialised)
    sessions.remove(at: index)
    if profile.ready == .afterStop, isQuiet { report(.ready) }
  }

  /// Throws when the state of the session has not been reported to the host yet.
  mutating func checkOrder(_ token: UInt32, _ status: Status) throws(Refusal) {
    guard unreported.contains(where: { $0.token == token }) else { return }
    disorderlyCommands += 1
    throw Refusal(status)
  }

  private mutating func start(_ token: UInt32, at now: UInt64) throws(Refusal) {
    let index = try known(token)
    let session = sessions[index]
    if session.state == .active { throw Refusal(.sessionActive) }
    guard session.state == .idle else { throw Refusal(.sessionNotConfigured) }
    try checkOrder(token, .sessionNotConfigured)
    let setup = RangingSetup(session)
    var first = now
    let initiation = session.number(.uwbInitiationTime)
    if initiation > 0, setup.isController {
      let own = microseconds(at: now)
      let absolute =
        profile.dialect.generation == .fira1 ? own + initiation * 1_000 : initiation
      guard absolute >= own else { throw Refusal(.initiationTimeTooOld) }
      first += (absolute - own) * 1_000
    }
    respond(.sessionStart, .ok)
    if let reason = session.unusable(setup) { return move(index, to: .idle, reason: reason) }
    sessions[index].setup = setup
    sessions[index].sequenceNumber = 0
    sessions[index].rounds = 0
    sessions[index].failures = 0
    sessions[index].wasInside = nil
    sessions[index].data = SessionData(hasCredit: true)
    // A controller's first round ends after its slots; a controlee's first round ends after a whole
    // block of listening.
    sessions[index].deadline =
      first + (setup.isController ? setup.slot * UInt64(setup.slotsPerRound) : blockLength(setup))
    if setup.oneWayRole != nil { startOneWay(index, setup, at: first) }
    if profile.deviceStatusFirst { report(.active) }
    move(index, to: .active)
    report(.active)
  }

  private mutating func stop(_ token: UInt32) throws(Refusal) {
    let index = try known(token)
    switch sessions[index].state {
    case .active: break
    case .initialised: throw Refusal(.sessionNotConfigured)
    default:
      disorderlyCommands += 1
      throw Refusal(.rejected)
    }
    stops += 1
    if profile.stopRetryPeriod > 0, stops.isMultiple(of: profile.stopRetryPeriod) {
      return askAgain()
    }
    respond(.sessionStop, .ok)
    leaveActive(index, reason: .managementCommand)
  }

  /// Changes the state from ACTIVE to IDLE.
  mutating func leaveActive(_ index: Int, reason: StateChangeReason) {
    endRanging(index)
    move(index, to: .idle, reason: reason)
    if profile.ready == .afterStop, !sessions.contains(where: { $0.state == .active }) {
      report(.ready)
    }
  }

  /// Notifies the controlees in the next control message, if in-band termination is enabled.
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

  /// Returns the duration of a block of this chip, in nanoseconds of the scene.
  func blockLength(_ setup: RangingSetup) -> UInt64 {
    let own = Double(setup.rangingDuration * (1 + setup.stride)) * 1e6
    return UInt64(nearest: own / (1 + clockOffset * 1e-6))
  }
}
