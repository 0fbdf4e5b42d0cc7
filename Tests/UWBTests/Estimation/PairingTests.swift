// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBTestSupport
import UCI
@testable import UWB

/// Measurements and the diagnostics of their round, in every possible order.
@Suite(.computes) struct PairingTests {
  @Test func withoutDiagnosticsNothingWaits() {
    var rounds = Rounds()
    for sequence in 0..<3 as Range<UInt32> {
      rounds.info(sequence)
      #expect(rounds.given.count == Int(sequence) + 1)
    }
    #expect(rounds.uses == [.none, .none, .none])
    #expect(rounds.given.allSatisfy { $0.distance == 4 && $0.noAzimuth == .noAntennaTable })
    #expect("\(rounds.given[2].measurement)" == "#2 0x0001 4.00 m")
  }

  @Test func diagnosticsBehindTheirMeasurement() {
    var rounds = Rounds()
    // No diagnostics have arrived yet, so the first measurement does not wait.
    rounds.info(0)
    rounds.diagnostics(0, [Rounds.frame(carrier: 671)])
    #expect(rounds.given.count == 1 && rounds.pipeline.late == 1)
    for sequence in 1..<5 as Range<UInt32> {
      rounds.info(sequence)
      #expect(rounds.given.count == Int(sequence), "it waits")
      rounds.diagnostics(sequence, [Rounds.frame(carrier: Int32(sequence) * 671)])
      #expect(rounds.given.count == Int(sequence) + 1)
      #expect(rounds.given.last?.measurement.sequenceNumber == sequence)
      #expect(rounds.given.last?.diagnostics == .used(1))
      let offset = rounds.given.last?.carrierOffset ?? 0
      #expect(abs(offset - 10 * Double(sequence)) < 0.01)
    }
    #expect(rounds.pipeline.missing == 0)
  }

  @Test func requestedDiagnosticsAreAwaitedFromTheFirstRoundOn() {
    var settings = EstimationSettings()
    settings.expectsDiagnostics = true
    var rounds = Rounds(settings)
    rounds.info(0)
    #expect(rounds.given.isEmpty)
    rounds.diagnostics(0, [Rounds.frame()])
    #expect(rounds.uses == [.used(1)])
  }

  @Test func diagnosticsAheadOfTheirMeasurement() {
    var rounds = Rounds()
    for sequence in 0..<3 as Range<UInt32> {
      rounds.diagnostics(sequence, [Rounds.frame(carrier: Int32(sequence) * 671)])
      rounds.info(sequence)
      #expect(rounds.given.count == Int(sequence) + 1)
    }
    #expect(rounds.uses == [.used(1), .used(1), .used(1)])
    #expect(abs((rounds.given[2].carrierOffset ?? 0) - 20) < 0.01)
  }

  @Test func lostDiagnosticsAffectOnlyTheirRound() {
    var rounds = Rounds()
    rounds.diagnostics(0, [Rounds.frame()])
    rounds.info(0)
    rounds.info(1)
    #expect(rounds.given.count == 1)
    rounds.info(2)
    #expect(rounds.given.map(\.measurement.sequenceNumber) == [0, 1])
    rounds.diagnostics(2, [Rounds.frame()])
    #expect(rounds.uses == [.used(1), .missing, .used(1)])
    // The diagnostics of round 1 arrive now, after the measurement of round 1 was delivered.
    rounds.diagnostics(1, [Rounds.frame(carrier: 99_999)])
    rounds.info(3)
    rounds.diagnostics(3, [Rounds.frame()])
    #expect(rounds.given.last?.carrierOffset == 0)
    #expect(rounds.pipeline.late == 1 && rounds.pipeline.missing == 1)
    #expect(rounds.given.allSatisfy { $0.distance == 4 })
  }

  @Test func incompleteDiagnosticsAreNotAwaitedWithoutEnd() {
    var rounds = Rounds()
    rounds.diagnostics(0, [Rounds.frame()])
    for sequence in 0..<10 as Range<UInt32> { rounds.info(sequence) }
    #expect(rounds.given.count == 10, "the last one does not wait any more")
    #expect(rounds.pipeline.missing == 3)
    #expect(rounds.uses.filter { $0 == .missing }.count == 3)
    // After new diagnostics, later rounds wait for diagnostics again.
    rounds.diagnostics(10, [Rounds.frame()])
    rounds.info(10)
    rounds.info(11)
    #expect(rounds.given.count == 11)
    rounds.flush()
    #expect(rounds.given.count == 12)
  }

  @Test func diagnosticsThatComeNowAndThenAreAwaited() {
    var rounds = Rounds()
    rounds.diagnostics(0, [Rounds.frame()])
    rounds.info(0)
    // Two rounds without diagnostics precede each round with diagnostics, so never three rounds in
    // a row lack them.
    for sequence in 1..<13 as Range<UInt32> {
      rounds.info(sequence)
      if sequence % 3 == 0 { rounds.diagnostics(sequence, [Rounds.frame()]) }
    }
    for estimate in rounds.given {
      let isThere = estimate.measurement.sequenceNumber % 3 == 0
      #expect(estimate.diagnostics == (isThere ? .used(1) : .missing))
    }
    #expect(rounds.given.count == 13 && rounds.pipeline.missing == 8 && rounds.pipeline.late == 0)
  }

  @Test func requestedDiagnosticsThatNeverComeAreGivenUpLater() {
    var settings = EstimationSettings()
    settings.expectsDiagnostics = true
    var rounds = Rounds(settings)
    for sequence in 0..<30 as Range<UInt32> { rounds.info(sequence) }
    #expect(rounds.given.count == 30 && rounds.pipeline.missing == 20)
    // A session that did not request diagnostics stops to wait after three rounds, as above.
    settings.expectsDiagnostics = false
    var others = Rounds(settings)
    others.diagnostics(0, [Rounds.frame()])
    for sequence in 0..<30 as Range<UInt32> { others.info(sequence) }
    #expect(others.pipeline.missing == 3)
  }

  @Test func whatTheChipSaysOfThePathCountsWhereNothingElseTells() {
    var rounds = Rounds()
    for (path, probability) in [
      (.nonLineOfSight, 0.9), (.lineOfSight, 0.1), (.notDetermined, nil),
    ] as [(LineOfSight, Double?)] {
      var entry = Rounds.entry(1)
      entry.lineOfSight = path
      rounds.info(UInt32(rounds.given.count), [entry])
      #expect(rounds.given.last?.nonLineOfSight == probability)
    }
  }

  @Test func roundsWithoutAnyMeasurementAreReported() throws {
    var pipeline = EstimationPipeline()
    var seen: [EstimatedRound] = []
    func round(
      _ sequence: UInt32, _ entries: [TwoWayMeasurement], gap: RoundNotification.Gap = []
    ) throws {
      let payload = SessionInfo(
        sequenceNumber: sequence, sessionToken: 1, intervalMilliseconds: 200, twoWay: entries
      ).encoded()
      let view = try SessionInfoView(payload.span.bytes)
      let info = FrameInfo(receivedAt: 7 + UInt64(sequence))
      pipeline.add(RoundNotification(.measurements(view), info, gap: gap)) { seen.append($0) }
    }
    try round(0, [Rounds.entry(1)])
    try round(1, [])
    let info = FrameInfo(receivedAt: 0)
    pipeline.add(RoundNotification(.interrupted(.deviceRestarted), info)) { seen.append($0) }
    try round(0, [], gap: [.round, .measurement])
    try round(1, [], gap: .measurement)
    try round(2, [], gap: .measurement)
    #expect(seen.map(\.sequenceNumber) == [0, 1, 0, 1, 2])
    #expect(seen.map(\.receivedAt) == [7, 8, 7, 8, 9])
    let follows = seen.map { round -> Bool? in
      guard case .empty(let empty) = round else { return nil }
      return empty.followsInterruption
    }
    #expect(follows == [nil, false, true, false, false])
  }

  @Test func roundsWithoutAPeerDoNotEndTheWaiting() {
    var settings = EstimationSettings()
    settings.expectsDiagnostics = true
    var rounds = Rounds(settings)
    // The other end starts after 50 rounds.
    for sequence in 0..<50 as Range<UInt32> {
      rounds.info(sequence, [Rounds.entry(1, .rangingRxTimeout)])
    }
    rounds.info(50)
    rounds.diagnostics(50, [Rounds.frame()])
    #expect(rounds.uses == [DiagnosticsUse](repeating: .none, count: 50) + [.used(1)])
    #expect(rounds.pipeline.missing == 0 && rounds.pipeline.late == 0)
  }

  @Test func diagnosticsOfARoundWhoseMeasurementWasLost() {
    var rounds = Rounds()
    rounds.diagnostics(0, [Rounds.frame()])
    rounds.info(0)
    rounds.diagnostics(1, [Rounds.frame(carrier: 6_710)])
    rounds.info(2)
    rounds.diagnostics(2, [Rounds.frame(carrier: 671)])
    #expect(rounds.given.map(\.measurement.sequenceNumber) == [0, 2])
    #expect(abs((rounds.given[1].carrierOffset ?? 0) - 10) < 0.01)
  }

  @Test func sequenceNumbersWrap() {
    var rounds = Rounds()
    for sequence in [UInt32.max - 1, .max, 0, 1] {
      rounds.info(sequence)
      rounds.diagnostics(sequence, [Rounds.frame()])
    }
    #expect(rounds.given.count == 4 && rounds.pipeline.late == 1)
    #expect(rounds.uses.dropFirst().allSatisfy { $0 == .used(1) })
  }

  @Test func anEstimateDescribesItsDistanceAndDeviation() {
    var rounds = Rounds()
    rounds.info(0, [Rounds.entry(1), Rounds.entry(2, .rangingRxTimeout)])
    #expect(rounds.given[0].description.hasPrefix("0x0001 4.00 m ± 0."))
    #expect(rounds.given[1].description.hasPrefix("0x0002 The round failed"))
  }

  @Test func roundsCountFromZeroAfterAnInterruption() {
    var rounds = Rounds()
    for sequence in 50..<53 as Range<UInt32> {
      rounds.info(sequence)
      rounds.diagnostics(sequence, [Rounds.frame()])
    }
    rounds.info(0, isAfterInterruption: true)
    rounds.diagnostics(0, [Rounds.frame()])
    rounds.info(1)
    rounds.diagnostics(1, [Rounds.frame()])
    #expect(rounds.given.map(\.measurement.sequenceNumber) == [50, 51, 52, 0, 1])
    #expect(rounds.uses.suffix(2) == [.used(1), .used(1)])
    #expect(
      rounds.given.map(\.measurement.followsInterruption) == [false, false, false, true, false])
  }

  @Test func onlyReceivedFramesSaySomething() {
    var rounds = Rounds()
    rounds.diagnostics(
      0,
      [
        Rounds.frame(0, carrier: 6_710, action: 1), Rounds.frame(1, carrier: 671),
        Rounds.frame(5, carrier: 1_342),
      ])
    rounds.info(0)
    #expect(rounds.uses == [.used(2)])
    #expect(abs((rounds.given[0].carrierOffset ?? 0) - 15) < 0.01)
  }

  @Test func severalPeersByTheirAddresses() {
    var rounds = Rounds()
    let entries = [Rounds.entry(1), Rounds.entry(2, .rangingRxTimeout), Rounds.entry(3)]
    rounds.diagnostics(
      0,
      [
        Rounds.frame(carrier: 2_013, emitter: 3), Rounds.frame(carrier: 671, emitter: 1),
        Rounds.frame(5, carrier: 2_013, emitter: 3),
      ])
    rounds.info(0, entries)
    #expect(rounds.uses == [.used(1), .none, .used(2)] || rounds.uses[1] == .ambiguous)
    #expect(abs((rounds.given[0].carrierOffset ?? 0) - 10) < 0.01)
    #expect(rounds.given[1].carrierOffset == nil)
    #expect(rounds.given[1].noDistance == .notMeasured(.rangingRxTimeout))
    #expect(abs((rounds.given[2].carrierOffset ?? 0) - 30) < 0.01)
  }

  @Test func severalPeersByTheOrderOfTheirAnswers() {
    var rounds = Rounds()
    let entries = [Rounds.entry(1), Rounds.entry(2, .rangingRxTimeout), Rounds.entry(3)]
    let frames = [Rounds.frame(carrier: 671), Rounds.frame(carrier: 2_013), Rounds.frame(5)]
    rounds.diagnostics(0, frames)
    rounds.info(0, entries)
    #expect(abs((rounds.given[0].carrierOffset ?? 0) - 10) < 0.01)
    #expect(abs((rounds.given[2].carrierOffset ?? 0) - 30) < 0.01)
    // One answer is missing, or one is surplus. The diagnostics do not show which peer's answer it
    // is.
    for wrong in [Array(frames.prefix(1)), frames + [Rounds.frame()]] {
      var other = Rounds()
      other.diagnostics(0, wrong)
      other.info(0, entries)
      #expect(other.given.allSatisfy { $0.carrierOffset == nil })
      #expect(other.uses[0] == .ambiguous && other.uses[2] == .ambiguous)
      #expect(other.given[0].distance == 4)
    }
  }

  @Test func anythingElseDoesNothing() {
    var rounds = Rounds()
    rounds.feed(Opcode(.core, 1), [1, 2, 3])
    for length in 0..<40 {
      rounds.feed(RangeDiagnosticsNotification.qorvoOpcode, [UInt8](repeating: 0xFF, count: length))
      rounds.feed(NXPRFrameLogNotification.opcode, [UInt8](repeating: 0xFF, count: length))
    }
    rounds.info(0)
    #expect(rounds.uses == [.none] && rounds.given.count == 1)
  }
}
