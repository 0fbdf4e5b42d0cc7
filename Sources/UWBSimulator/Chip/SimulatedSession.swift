// SPDX-License-Identifier: Apache-2.0

import UCI

/// One session of a simulated chip: its parameters and the progress of ranging.
struct SimulatedSession: Sendable {
  let id: UInt32
  /// The handle, or in FiRa 1.x the session ID.
  let token: UInt32
  let type: SessionType
  var state = SessionState.initialised
  var parameters: [UInt8: [UInt8]] = [:]
  /// NXP's parameters, which are numbered separately.
  var vendorParameters: [UInt8: [UInt8]] = [:]
  var destinations: [MACAddress] = []
  /// Set while ranging.
  var setup: RangingSetup?
  var data = SessionData()

  /// Of the next SESSION_INFO_NTF.
  var sequenceNumber: UInt32 = 0
  /// Ranging rounds since the start.
  var rounds: UInt32 = 0
  /// Rounds in a row without a single result.
  var failures = 0
  /// Whether the last result was inside the proximity range; nil before the first.
  var wasInside: Bool?
  /// When the next round ends, in nanoseconds; for a controlee, when it stops waiting for it.
  var deadline: UInt64 = 0

  init(id: UInt32, token: UInt32, type: SessionType) {
    self.id = id
    self.token = token
    self.type = type
  }

  /// The value in effect.
  func bytes(_ id: UInt8) -> [UInt8] { parameters[id] ?? AppParameter.standard(id) }

  /// The value in effect as a number.
  func number(_ id: UInt8) -> UInt64 { bytes(id).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The parameters used in every round, parsed once.
struct RangingSetup: Sendable {
  var sessionID: UInt32
  var isController: Bool
  var isInitiator: Bool
  var address: MACAddress
  /// The parameters both ends must share, in the order of `AppParameter.air`.
  var air: [[UInt8]]
  /// The parameters both ends must share for the STS, in the order of `AppParameter.sts`.
  var sts: [[UInt8]]
  /// Milliseconds.
  var rangingDuration: UInt64
  /// Nanoseconds.
  var slot: UInt64
  var slotsPerRound: Int
  var channel: UInt8
  var usage: UInt64
  var stride: UInt64
  var aoaRequest: UInt64
  var resultReport: UInt64
  var reportsRSSI: Bool
  var notificationConfig: UInt64
  /// Centimetres.
  var proximity: ClosedRange<Int>
  var maxMeasurements: UInt64
  var maxRetries: UInt64
  var terminationAttempts: UInt64

  init(_ session: SimulatedSession) {
    sessionID = session.id
    isController = session.number(AppParameter.deviceType) == 1
    isInitiator = session.number(AppParameter.deviceRole) == 1
    address =
      MACAddress(bytes: session.bytes(AppParameter.deviceAddress)) ?? MACAddress(0)
    air = AppParameter.air.map { session.bytes($0) }
    sts = AppParameter.sts.map { session.bytes($0) }
    rangingDuration = session.number(AppParameter.rangingDuration)
    // 1200 RSTU are a millisecond.
    slot = session.number(AppParameter.slotDuration) * 1_000_000 / 1_200
    slotsPerRound = Int(session.number(AppParameter.slotsPerRound))
    channel = UInt8(truncatingIfNeeded: session.number(AppParameter.channel))
    usage = session.number(AppParameter.roundUsage)
    stride = session.number(AppParameter.blockStride)
    aoaRequest = session.number(AppParameter.aoaRequest)
    resultReport = session.number(AppParameter.resultReport)
    reportsRSSI = session.number(AppParameter.rssiReporting) == 1
    notificationConfig = session.number(AppParameter.notificationConfig)
    let near = Int(session.number(AppParameter.nearProximity))
    proximity = near...max(near, Int(session.number(AppParameter.farProximity)))
    maxMeasurements = session.number(AppParameter.maxMeasurements)
    maxRetries = session.number(AppParameter.maxRetries)
    terminationAttempts = session.number(AppParameter.inBandTermination)
  }

  /// The number of slots in a round with this many controlees: control message, first ranging message, one
  /// answer each, the final of double-sided ranging, and the reports where they are deferred.
  func slotsNeeded(controlees: Int) -> Int {
    switch usage {
    case 1: 3 + controlees
    case 2: 4 + controlees
    case 3: 2 + controlees
    default: 3 + controlees
    }
  }
}

/// Why a configured session cannot range. As in real firmware, START is answered OK and followed by
/// SESSION_STATUS IDLE with this reason.
extension SimulatedSession {
  func unusable(_ setup: RangingSetup) -> StateChangeReason? {
    let prf = number(AppParameter.prfMode)
    let code = number(AppParameter.preambleCode)
    let sfd = number(AppParameter.sfd)
    if !(1...4).contains(setup.usage) { return StateChangeReason(rawValue: 0x39) }
    if !(prf == 0 ? 9...12 : 25...32).contains(code) { return StateChangeReason(rawValue: 0x2C) }
    if prf == 0 ? sfd != 0 && sfd != 2 : sfd == 0 { return StateChangeReason(rawValue: 0x2D) }
    if (3...4).contains(number(AppParameter.stsConfig)), parameters[AppParameter.sessionKey] == nil
    {
      return .sessionKeyNotFound
    }
    if destinations.isEmpty { return StateChangeReason(rawValue: 0x35) }
    let count = setup.isController ? destinations.count : 1
    if setup.isController {
      if Int(number(AppParameter.numberOfControlees)) != count { return .invalidNumberOfControlees }
      if number(AppParameter.multiNodeMode) == 0, count > 1 { return .invalidNumberOfControlees }
    }
    if setup.slotsNeeded(controlees: count) > setup.slotsPerRound { return .insufficientSlots }
    let round = UInt64(setup.slotsPerRound) * setup.slot
    return round > setup.rangingDuration * 1_000_000 ? .invalidRangingDuration : nil
  }
}
