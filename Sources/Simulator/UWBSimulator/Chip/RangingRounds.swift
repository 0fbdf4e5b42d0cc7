// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  /// Returns the entry for a peer with which a round failed.
  func failure(of peer: MACAddress, _ status: Status, slot: Int) -> TwoWayMeasurement {
    TwoWayMeasurement(
      peer: peer, status: status, lineOfSight: profile.lineOfSight,
      slotIndex: profile.reportsErrorSlot ? UInt8(min(slot, 255)) : 0)
  }

  /// Ends a round: notifies the host, and continues or ends the session.
  ///
  /// - Parameters:
  ///   - seen: the messages of the round that this chip sent and received.
  ///   - next: the end of the next round, in nanoseconds.
  mutating func finishRound(
    _ index: Int, _ entries: [TwoWayMeasurement], seen: [Observation], next: UInt64
  ) {
    guard let setup = sessions[index].setup else { return }
    sessions[index].deadline = next
    sessions[index].rounds &+= 1
    let succeeded = entries.contains { $0.status.isSuccess }
    let entries = profile.reportsFailures ? entries : entries.filter { $0.status.isSuccess }
    sessions[index].failures = succeeded ? 0 : sessions[index].failures + 1
    if isWanted(entries, index, setup) { report(entries, seen, index, setup) }
    grantCredit(index)
    if setup.maxMeasurements > 0, UInt64(sessions[index].rounds) >= setup.maxMeasurements {
      leaveActive(index, reason: .maxMeasurementsReached)
    } else if setup.maxRetries > 0, sessions[index].failures >= Int(setup.maxRetries) {
      leaveActive(index, reason: .maxRoundRetriesReached)
    }
  }

  /// Applies SESSION_INFO_NTF_CONFIG: 0 never, 2 inside the proximity range, 5 on entering and
  /// leaving it; everything else always.
  private mutating func isWanted(
    _ entries: [TwoWayMeasurement], _ index: Int, _ setup: RangingSetup
  ) -> Bool {
    let isInside = entries.contains {
      $0.distanceCentimetres.map(setup.proximity.contains) ?? false
    }
    defer { sessions[index].wasInside = isInside }
    switch setup.notificationConfig {
    case 0: return false
    case 2: return isInside
    case 5: return isInside != (sessions[index].wasInside ?? false)
    default: return true
    }
  }

  private mutating func report(
    _ entries: [TwoWayMeasurement], _ seen: [Observation], _ index: Int, _ setup: RangingSetup
  ) {
    let entries =
      profile.reportsSilentPeers ? entries : entries.filter { $0.status.isSuccess }
    let info = SessionInfo(
      sequenceNumber: sessions[index].sequenceNumber, sessionToken: sessions[index].token,
      intervalMilliseconds: profile.reportsInterval ? UInt32(setup.rangingDuration) : 0,
      twoWay: entries,
      extendedAddresses: setup.address.isExtended)
    sessions[index].sequenceNumber &+= 1
    let tail = hasExtendedNotifications ? measurementTail(index, entries, seen) : []
    notify(.sessionInfo, info.encoded(dialect: profile.dialect) + tail)
    reportDiagnostics(index, sequence: info.sequenceNumber, seen)
  }
}
