// SPDX-License-Identifier: Apache-2.0

import UCI

/// One session of a simulated chip: its parameters and the progress of ranging.
struct SimulatedSession: Sendable {
  let id: UInt32
  /// The handle, or in FiRa 1.x the session ID.
  let token: UInt32
  let type: SessionType
  var state = SessionState.initialised
  var parameters: [AppConfigID: [UInt8]] = [:]
  /// NXP's parameters, which are numbered separately.
  var vendorParameters: [UInt8: [UInt8]] = [:]
  var destinations: [MACAddress] = []
  /// The parameters in use; nil unless the session ranges.
  var setup: RangingSetup?
  var data = SessionData()
  var oneWay = OneWayProgress()

  /// The number of the next SESSION_INFO_NTF.
  var sequenceNumber: UInt32 = 0
  /// The number of ranging rounds since the start.
  var rounds: UInt32 = 0
  /// The number of consecutive rounds without a single result.
  var failures = 0
  /// Whether the last result was inside the proximity range; nil before the first result.
  var wasInside: Bool?
  /// The end of the next round in nanoseconds; for a controlee, the end of its wait for a round.
  var deadline: UInt64 = 0

  func bytes(_ id: AppConfigID) -> [UInt8] { parameters.bytes(id) }
  func number(_ id: AppConfigID) -> UInt64 { parameters.bytes(id).number }
}

/// The parameters of a session while it ranges.
struct RangingSetup: Sendable {
  let sessionID: UInt32
  private let parameters: [AppConfigID: [UInt8]]
  /// The parameters that both ends must share, in the order of `AppParameter.air`.
  let air: [[UInt8]]
  /// The parameters that both ends must share for the STS, in the order of `AppParameter.sts`.
  let sts: [[UInt8]]

  init(_ session: SimulatedSession) {
    (sessionID, parameters) = (session.id, session.parameters)
    air = AppParameter.air.map(session.bytes)
    sts = AppParameter.sts.map(session.bytes)
  }

  func number(_ id: AppConfigID) -> UInt64 { parameters.bytes(id).number }
  func bytes(_ id: AppConfigID) -> [UInt8] { parameters.bytes(id) }

  var isController: Bool { number(.deviceType) == 1 }
  var isInitiator: Bool { number(.deviceRole) == 1 }
  var address: MACAddress {
    MACAddress(bytes: parameters.bytes(.deviceMACAddress)) ?? MACAddress(0)
  }
  /// The time between ranging rounds in milliseconds.
  var rangingDuration: UInt64 { number(.rangingDuration) }
  /// The duration of a slot in nanoseconds; 1200 RSTU are a millisecond.
  var slot: UInt64 { number(.slotDuration) * 1_000_000 / 1_200 }
  var slotsPerRound: Int { Int(number(.slotsPerRR)) }
  var channel: UInt8 { UInt8(truncatingIfNeeded: number(.channelNumber)) }
  var preamble: UInt64 { number(.preambleCodeIndex) }
  /// The length of a round in nanoseconds.
  var round: UInt64 { slot * UInt64(slotsPerRound) }
  var usage: UInt64 { number(.rangingRoundUsage) }
  var stride: UInt64 { number(.blockStrideLength) }
  var aoaRequest: UInt64 { number(.aoaResultRequest) }
  var resultReport: UInt64 { number(.resultReportConfig) }
  var reportsRSSI: Bool { number(.rssiReporting) == 1 }
  var notificationConfig: UInt64 { number(.sessionInfoNotificationConfig) }
  /// The proximity range in centimetres.
  var proximity: ClosedRange<Int> {
    let near = Int(number(.nearProximity))
    return near...max(near, Int(number(.farProximity)))
  }
  var maxMeasurements: UInt64 { number(.maxNumberOfMeasurements) }
  var maxRetries: UInt64 { number(.maxRRRetry) }
  var terminationAttempts: UInt64 { number(.inBandTerminationAttemptCount) }

  /// Returns the number of slots in a round with this many controlees. They are for the control
  /// message, the first ranging message, an answer each, the final of double-sided ranging, and
  /// deferred reports.
  func slotsNeeded(controlees: Int) -> Int {
    controlees + (usage == 2 ? 4 : usage == 3 ? 2 : 3)
  }
}

/// The reason why a configured session cannot range. As in real firmware, START is answered OK and
/// followed by SESSION_STATUS IDLE with this reason.
extension SimulatedSession {
  func unusable(_ setup: RangingSetup) -> StateChangeReason? {
    let prf = number(.prfMode)
    let code = number(.preambleCodeIndex)
    let sfd = number(.sfdID)
    // Messages of one-way ranging have a payload, which SP3 frames do not have.
    let isUsable =
      setup.oneWayRole == nil ? (1...4).contains(setup.usage) : number(.rframeConfig) != 3
    if !isUsable { return StateChangeReason(rawValue: 0x39) }
    if !(prf == 0 ? 9...12 : 25...32).contains(code) { return StateChangeReason(rawValue: 0x2C) }
    if prf == 0 ? sfd != 0 && sfd != 2 : sfd == 0 { return StateChangeReason(rawValue: 0x2D) }
    if (3...4).contains(number(.stsConfig)), parameters[.sessionKey] == nil {
      return .sessionKeyNotFound
    }
    let round = UInt64(setup.slotsPerRound) * setup.slot
    if setup.oneWayRole != nil {
      return round > setup.rangingDuration * 1_000_000 ? .invalidRangingDuration : nil
    }
    if destinations.isEmpty { return StateChangeReason(rawValue: 0x35) }
    let count = setup.isController ? destinations.count : 1
    if setup.isController {
      if Int(number(.numberOfControlees)) != count { return .invalidNumberOfControlees }
      if number(.multiNodeMode) == 0, count > 1 { return .invalidNumberOfControlees }
    }
    if setup.slotsNeeded(controlees: count) > setup.slotsPerRound { return .insufficientSlots }
    return round > setup.rangingDuration * 1_000_000 ? .invalidRangingDuration : nil
  }
}
