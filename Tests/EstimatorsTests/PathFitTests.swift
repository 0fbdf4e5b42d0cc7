// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

/// Blocked paths, detected by a model of other rooms.
@Suite(.computes) struct PathFitTests {
  private static let names = ["power_gap_db", "peak_delay_ns", "rx_power_dbm"]

  /// Rooms whose levels differ. A blocked path has a weak first path or a late peak, and a distance
  /// that is too long by 0.5 m, more or less.
  private static func rows(rooms: Int, count: Int = 200) -> [LabelledPath] {
    var noise = Noise(seed: 7)
    return (0..<rooms).flatMap { room in
      let level = -85 + 5 * noise.normal()
      return (0..<count).map { row in
        let isBlocked = row % 3 == 0
        let isWeak = isBlocked && row % 2 == 0
        return LabelledPath(
          values: [
            3 + (isWeak ? 5 : 0) + 1.5 * noise.normal(),
            2 + (isBlocked && !isWeak ? 6 : 0) + 1.5 * noise.normal(),
            level + 2 * noise.normal(),
          ], isBlocked: isBlocked, room: "room \(room)",
          error: 0.2 + 0.05 * noise.normal() + (isBlocked ? 0.5 + 0.2 * noise.normal() : 0))
      }
    }
  }

  @Test func tellsPathsInRoomsThatWereLeftOut() throws {
    let fit = try PathFit(Self.names, Self.rows(rooms: 4))
    #expect(fit.balancedAccuracy > 0.9)
    #expect(fit.model.isUsable && fit.model.rooms?.count == 4)
    #expect(fit.model.rooms?.allSatisfy { ($0.area ?? 0) > 0.93 && $0.blocked == 67 } == true)
    let excess = try #require(fit.model.excess)
    #expect(abs(excess.mean - 0.5) < 0.04 && abs(excess.deviation - 0.2) < 0.04)
    // The rule of 8 dB between both levels detects one kind of obstacle only.
    var rule = LineOfSightModel()
    var (found, blocked) = (0, 0)
    for row in Self.rows(rooms: 4) where row.isBlocked {
      var diagnostics = ReceptionDiagnostics()
      (diagnostics.receivedPower, diagnostics.firstPathPower) = (-80, -80 - (row.values[0] ?? 0))
      blocked += 1
      if rule.probability(diagnostics) ?? 0 > 0.5 { found += 1 }
    }
    #expect(found < blocked / 2)
    rule.learned = fit.model
    #expect(rule.probability(ReceptionDiagnostics()) == nil)
  }

  @Test func statesProbabilitiesThatHoldInOtherRooms() throws {
    let rows = Self.rows(rooms: 5)
    let fit = try PathFit(Self.names, rows)
    for (low, high) in [(0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)] {
      // There are twice as many free paths, so that a blocked path weighs twice as much.
      var (stated, blocked, all) = (0.0, 0.0, 0.0)
      for (probability, row) in zip(fit.heldOut, rows) where low..<high ~= probability {
        let weight = row.isBlocked ? 2.0 : 1
        (stated, all) = (stated + weight * probability, all + weight)
        if row.isBlocked { blocked += weight }
      }
      #expect(all > 0 && abs(stated / all - blocked / all) < 0.15, "\(low)")
    }
  }

  /// A property that separates the paths in one room only does not help in others, and the score
  /// shows this.
  @Test func whatHoldsInOneRoomOnlyIsNotCounted() throws {
    var noise = Noise(seed: 3)
    let rows = (0..<3).flatMap { room in
      (0..<200).map { row in
        let isBlocked = row % 2 == 0
        let direction = [1.0, -1, 0][room]
        return LabelledPath(
          values: [(isBlocked ? direction : 0) + 0.1 * noise.normal()], isBlocked: isBlocked,
          room: "\(room)")
      }
    }
    let fit = try PathFit(["peak_delay_ns"], rows)
    #expect(fit.balancedAccuracy < 0.6 && fit.model.excess == nil)
    #expect(fit.heldOut.allSatisfy { 0.2...0.8 ~= $0 })
  }

  @Test func refusesWhatCannotBeJudged() {
    let rows = Self.rows(rooms: 2)
    #expect(throws: PathFit.Failure.oneKind(isBlocked: true)) {
      try PathFit(Self.names, rows.filter(\.isBlocked))
    }
    #expect(throws: PathFit.Failure.oneKind(isBlocked: false)) {
      try PathFit(Self.names, rows.filter { !$0.isBlocked })
    }
    #expect(throws: PathFit.Failure.rooms(1)) {
      try PathFit(Self.names, rows.filter { $0.room == "room 0" })
    }
    #expect(throws: PathFit.Failure.rooms(0)) {
      try PathFit(Self.names, rows.filter { $0.isBlocked == ($0.room == "room 0") })
    }
    #expect(throws: PathFit.Failure.noInputs) {
      try PathFit(
        ["power_gap_db"],
        rows.map { LabelledPath(values: [1], isBlocked: $0.isBlocked, room: $0.room) })
    }
    #expect(throws: PathFit.Failure.oneKind(isBlocked: false)) { try PathFit(Self.names, []) }
  }

  /// The effect is a mixture of both cases: the filter subtracts its mean, and states its variance.
  @Test func aBlockedPathIsLongerAndLessCertain() {
    var model = LineOfSightModel()
    let plain = model.effect(probability: 1, on: 0.01)
    #expect(plain.excess == 0 && abs(plain.variance - 0.16) < 1e-9 && plain.factor == 16)
    model.learned = PathModel(
      inputs: [.init(name: "fp_snr_db", mean: 20, deviation: 4)], intercept: 0, weights: [-1])
    #expect(model.effect(probability: 1, on: 0.01).factor == 16)
    model.learned?.excess = .init(mean: 0.6, deviation: 0.3)
    let free = model.effect(probability: 0, on: 0.01)
    #expect(free.excess == 0 && free.variance == 0.01 && free.factor == 1 && free.doubt == 0)
    #expect(model.effect(probability: nil, on: 0.01) == free)
    let doubtful = model.effect(probability: 0.5, on: 0.01)
    #expect(abs(doubtful.excess - 0.3) < 1e-9)
    #expect(abs(doubtful.variance - (0.01 + 0.045 + 0.09)) < 1e-9)
    // The detour is part of the noise for filters and part of the stated deviation. Each of them
    // counts it once.
    #expect(abs(doubtful.doubt - 0.135) < 1e-9 && doubtful.factor == 1)
    #expect(abs(doubtful.total(slow: 0.01) - 0.155) < 1e-9)
    var diagnostics = ReceptionDiagnostics()
    diagnostics.firstPathSNR = 12
    #expect(abs((model.probability(diagnostics) ?? 0) - 0.8808) < 1e-3)
    // Levels beyond the measured range lead to no further conclusion.
    diagnostics.firstPathSNR = -1e9
    #expect(abs((model.probability(diagnostics) ?? 0) - 0.9526) < 1e-3)
  }
}
