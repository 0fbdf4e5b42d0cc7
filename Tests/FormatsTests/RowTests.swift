// SPDX-License-Identifier: Apache-2.0
import Formats
import JSON
import Testing
import UCI

@testable import UWB

/// Measurements as JSON, and the figures of a run.
@Suite struct RowTests {
  private static func row(
    _ sequence: UInt32, _ peer: UInt16 = 1, _ status: Status = .ok, distance: UInt16 = 250,
    rssi: UInt8 = 0, lineOfSight: LineOfSight = .notDetermined, token: UInt32 = 1
  ) -> RangeRow {
    let result = TwoWayMeasurement(
      peer: MACAddress(peer), status: status, lineOfSight: lineOfSight, rawDistance: distance,
      azimuth: Angle(raw: -1_280, figureOfMerit: 90), rawRSSI: rssi)
    return RangeRow(
      seconds: Double(sequence) / 10,
      measurement: RangingMeasurement(
        sessionToken: token, sequenceNumber: sequence,
        receivedAt: UInt64(sequence) * 100_000_000, result: result),
      hasRSSI: true)
  }

  private static func json(_ row: RangeRow) -> String {
    var text = JSONText()
    row.append(to: &text)
    return text.string
  }

  // MARK: rows

  @Test(arguments: [
    (row(3), #""distance_cm":250"#), (row(3), #""time_s":0.300000"#),
    (row(3, 0xABCD), #""peer":"0xabcd""#), (row(3), #""sequence":3"#),
    (row(3), #""azimuth_deg":-10.00,"azimuth_fom":90"#),
    (row(3), #""elevation_deg":0.00,"elevation_fom":0"#),
    (row(3, distance: 0xFFFF), #""distance_cm":null"#),
    (row(3, 1, .rangingRxTimeout), #""distance_cm":null"#),
    (row(3, 1, .rangingRxTimeout), #""status":"RANGING_RX_TIMEOUT","status_code":33"#),
    (row(3, 1, .okNegativeDistance, distance: 12), #""distance_cm":-12"#),
    (row(3, rssi: 161), #""rssi_dbm":-80.5"#), (row(3, rssi: 0xFF), #""rssi_dbm":null"#),
    (row(3, lineOfSight: .lineOfSight), #""nlos":false"#),
    (row(3, lineOfSight: .nonLineOfSight), #""nlos":true"#), (row(3), #""nlos":null"#),
    (row(3), #""estimate_m":null,"estimate_sd_m":null,"velocity_m_s":null"#),
    (row(3), #""after_interruption":false,"computed_m":null"#),
  ]) func aMeasurementIsOneObject(_ row: RangeRow, _ part: String) {
    let text = Self.json(row)
    #expect(text.contains(part + ",") || text.hasSuffix(part + "}"), "\(text)")
    // Each key once, in the order of the documentation.
    let keys = RangeRow.json.entry.keys.map(\.path)
    let positions = keys.compactMap { text.firstRange(of: "\"\($0)\":")?.lowerBound }
    #expect(positions.count == keys.count && positions == positions.sorted())
  }

  @Test func chipsBeforeFiRa2ReportNoRSSI() {
    var row = Self.row(3, rssi: 161)
    row.hasRSSI = false
    #expect(row.rssi == nil && Self.json(row).contains(#""rssi_dbm":null"#))
  }

  @Test func computedValuesHaveTheirDigits() {
    var row = Self.row(3)
    var computed = EstimatedMeasurement(row.measurement)
    (computed.distance, computed.distanceDeviation) = (2.34567, 0.04321)
    (computed.nonLineOfSight, computed.carrierOffset) = (0.1236, -3.14159)
    (computed.receivedPower, computed.firstPathPower) = (-78.96, -80)
    computed.diagnostics = .used(4)
    row.computed = computed
    let text = Self.json(row)
    for part in [
      #""computed_m":2.3457,"computed_sd_m":0.0432"#, #""nlos_probability":0.124"#,
      #""cfo_ppm":-3.142"#, #""rx_power_dbm":-79.0,"fp_power_dbm":-80.0"#,
      #""diagnostics":"used","diagnostics_frames":4,"#,
    ] { #expect(text.contains(part), "\(part) in \(text)") }
  }

  /// The text without closures is the text of the table of keys.
  @Test(arguments: [true, false]) func rowsAreWrittenAsTheirTable(_ hasNulls: Bool) {
    var full = Self.row(4_000_000_000, 0xFFFF, .okNegativeDistance, distance: 12, rssi: 161)
    full.measurement.result.peer = MACAddress(extended: 0x0123_4567_89AB_CDEF)
    full.measurement.followsInterruption = true
    full.lostBefore = 7
    var computed = EstimatedMeasurement(full.measurement)
    (computed.distance, computed.distanceDeviation) = (-0.00004, 1e30)
    (computed.distanceNoise, computed.nonLineOfSight) = (.nan, 0.9996)
    (computed.noAzimuth, computed.noElevation) = (.phasesDisagree, .noAntennaTable)
    computed.elevation = EstimatedAngle(angle: -0.5, standardDeviation: 0.01, frames: 3)
    full.computed = computed
    let rows = [
      Self.row(0), Self.row(3, 0xABCD, .rangingRxTimeout), full,
      Self.row(.max, lineOfSight: .lineOfSight, token: .max),
    ]
    for row in rows {
      let members = (RangeRow.json.object(row).node.object ?? []).filter {
        hasNulls || !$0.value.isNull
      }
      var text = JSONText(capacity: 0)
      var table = JSONText()
      text.append("x")
      row.append(to: &text, hasNulls: hasNulls)
      RangeRow.json.append(row, to: &table, hasNulls: hasNulls)
      #expect(text.string == "x\(JSONNode(.object(members)))")
      #expect(text.string == "x" + table.string)
    }
  }

  @Test func objectsWithoutMembersHaveBraces() {
    let table = JSONTable<Int>("test", each: "test") { $0.key("none?", "") { _ in nil as Int? } }
    #expect(table.line(1) == "{}\n")
  }

  // MARK: summary

  /// Programs end a run by its silent rounds.
  @Test func silentRoundsAreInARow() {
    var summary = RangeSummary()
    let statuses: [Status] = [.ok, .rangingRxTimeout, .rangingRxTimeout, .ok]
    for (sequence, status) in statuses.enumerated() {
      summary.add(Self.row(UInt32(sequence), 1, status))
      #expect(summary.silentRounds == [0, 1, 2, 0][sequence])
    }
    summary.add(EmptyRound(sessionToken: 1, sequenceNumber: 4, receivedAt: 400_000_000))
    #expect(summary.silentRounds == 1 && summary.measuredRounds == 2)
    // A round is measured once, even if the first of its peers was not.
    summary.add(Self.row(5, 1, .rangingRxTimeout))
    summary.add(Self.row(5, 2))
    summary.add(Self.row(5, 3))
    #expect(summary.silentRounds == 0 && summary.measuredRounds == 3 && summary.rowsInRound == 3)
    #expect(summary.line == "6 rounds, 10.0 Hz, 1 empty, 0 lost")
  }

  /// After a loss of the device, the chip counts from 0 again: rounds in between are not counted.
  @Test func anInterruptionIsNoGap() {
    var summary = RangeSummary()
    summary.add(Self.row(90))
    var returned = Self.row(95)
    returned.measurement.followsInterruption = true
    #expect(summary.add(returned) == 0)
    #expect(summary.add(Self.row(97)) == 1)
    // Each session has numbers of its own.
    #expect(summary.add(Self.row(5, 2, token: 2)) == 0)
    #expect(summary.add(Self.row(8, 2, token: 2)) == 2)
    // A number that is lower than the previous number does not count either.
    #expect(summary.add(Self.row(1, 2, token: 2)) == 0)
    #expect(summary.missing == 3 && summary.lastSequence == 1)
  }

  @Test func theMostFrequentFailureIsFirst() {
    var summary = RangeSummary()
    summary.dropped = 2
    #expect(summary.rate == 0)
    let failures: [Status] = [.rangingTxFailed, .rangingRxTimeout, .rangingRxTimeout]
    for (sequence, status) in failures.enumerated() {
      summary.add(Self.row(UInt32(sequence), UInt16(sequence % 2), status))
    }
    #expect(summary.failures.map(\.status) == [.rangingRxTimeout, .rangingTxFailed])
    #expect(summary.failures.map(\.count) == [2, 1])
    #expect(
      summary.text("x")
        == "3 rounds, 10.0 Hz, 2 peers, 0 measured, 3 failed (2 RANGING_RX_TIMEOUT, "
        + "1 RANGING_TX_FAILED), 0 lost, 2 dropped, x")
    let peer = summary.peers[MACAddress(0 as UInt16)]
    #expect(peer?.failed == 2 && peer?.measuredAt == nil && peer?.last?.result.peer != nil)
  }
}
