// SPDX-License-Identifier: Apache-2.0
import Estimators
import Glibc
import Ranging
import RangingScenes

/// Figures of blocked paths: their detection in rooms that were not learned (P1), and distances
/// without a learned model (P2).
enum PathFigures {
  private static let inputs: [PathDiagnostic] = [
    .powerGap, .levelAtMetre, .receivedPower, .firstPathPower,
  ]

  static func rows(_ settings: Settings, _ recordings: Recordings) -> [AccuracyFigure] {
    learned(recordings) + rooms(settings)
  }

  private static func learned(_ recordings: Recordings) -> [AccuracyFigure] {
    guard let hanyang = Hanyang(recordings) else { return [] }
    var rows: [LabelledPath] = []
    var ruled: [Double?] = []
    for kind in ["LOS", "NLOS"] {
      for one in hanyang.exchanges(kind) where abs(one.chip - one.truth) < 5 {
        var diagnostics = ReceptionDiagnostics()
        diagnostics.receivedPower = one.power
        diagnostics.firstPathPower = one.firstPathPower
        ruled.append(LineOfSightModel().probability(diagnostics))
        // Anchors at the same height above or below the tag count as one room.
        let lift = one.truth * one.truth - Double(one.taped * one.taped)
        rows.append(
          LabelledPath(
            values: inputs.map { diagnostics.value($0, distance: one.chip) },
            isBlocked: kind == "NLOS", room: "\((lift * 1000).rounded())",
            error: one.chip - one.truth))
      }
    }
    guard let fit = try? PathFit(inputs.map(\.rawValue), rows) else { return [] }
    let scores = (fit.model.rooms ?? []).compactMap(\.balancedAccuracy).map { 100 * $0 }
    return [
      AccuracyFigure(
        id: "P1", quantity: "hanyang: blocked paths told right, heights left out", unit: "%",
        textbook: ("8 dB", 100 * fit.balancedAccuracy(of: ruled)),
        value: 100 * fit.balancedAccuracy, parts: scores, aim: .atLeast(60)),
      AccuracyFigure(
        id: "P1", quantity: "the same: stated probability less share, greatest of five", unit: "%",
        value: 100 * gap(fit.heldOut, rows), aim: .atMost(10)),
      AccuracyFigure(
        id: "P2", quantity: "hanyang LOS: paths that the rules hold for blocked", unit: "%",
        value: 100 * doubted(zip(rows, ruled).filter { !$0.0.isBlocked }.map(\.1)), aim: .atMost(5)),
    ]
  }

  /// Returns the share of paths whose stated deviation increases.
  private static func doubted(_ probabilities: [Double?]) -> Double {
    let model = LineOfSightModel()
    let doubts = probabilities.count { model.effect(probability: $0, on: 0.01).doubt > 0 }
    return Double(doubts) / Double(max(1, probabilities.count))
  }

  /// A simulated room.
  private struct Room {
    /// The share of blocked paths.
    var blocked: Double
    /// The median error of blocked paths in metres, and the 95th percentile.
    var median, most: Double
    /// The mean gap between both levels on blocked paths in dB. Free paths have 5.5 ± 2 dB.
    var gap: Double

    /// Rooms with the medians and percentiles of a recording at a university. The limit of 8 dB
    /// classifies 73 to 85 % of their paths correctly.
    static let all = [
      Room(blocked: 0.15, median: 0.5, most: 1.4, gap: 10.5),
      Room(blocked: 0.3, median: 0.8, most: 2.5, gap: 9.5),
      Room(blocked: 0.5, median: 1.1, most: 3.7, gap: 8.5),
    ]

    /// Returns whether a path is blocked, the gap of its levels, and the error of its distance.
    func path(_ noise: inout Noise) -> (isBlocked: Bool, gap: Double, error: Double) {
      let isBlocked = noise.uniform() < blocked
      guard isBlocked else { return (false, 5.5 + 2 * noise.normal(), 0.09 * noise.normal()) }
      let spread = log(most / median) / 1.645
      let detour = median * exp(spread * noise.normal())
      return (true, gap + 3 * noise.normal(), detour + 0.09 * noise.normal())
    }
  }

  /// Measures single distances of calibrated boards without a learned model, with and without the
  /// assumed detour in metres.
  private static func rooms(_ settings: Settings) -> [AccuracyFigure] {
    var (honest, plain) = (Honesty(), Honesty())
    var (free, freePlain): ([Double], [Double]) = ([], [])
    let model = LineOfSightModel()
    let (noise, slow, constant) = (0.05 * 0.05, 0.07 * 0.07, 0.03 * 0.03)
    for (number, room) in Room.all.enumerated() {
      var generator = Noise(seed: UInt64(61 + number))
      var (ratios, plainRatios): ([Double], [Double]) = ([], [])
      for _ in 0..<(settings.quick ? 2000 : 20_000) {
        let path = room.path(&generator)
        var diagnostics = ReceptionDiagnostics()
        (diagnostics.receivedPower, diagnostics.firstPathPower) = (-80, -80 - path.gap)
        var effect = model.effect(probability: model.probability(diagnostics), on: noise)
        let deviation = (effect.total(slow: slow) + constant).squareRoot()
        effect.doubt = 0
        let plainDeviation = (effect.total(slow: slow) + constant).squareRoot()
        ratios.append(path.error / deviation)
        plainRatios.append(path.error / plainDeviation)
        guard !path.isBlocked else { continue }
        free.append(deviation)
        freePlain.append(plainDeviation)
      }
      honest.add(ratios)
      plain.add(plainRatios)
    }
    let name = "four times the noise"
    return honest.figures("P2", "three rooms, by the rules", beside: (name, plain)) + [
      AccuracyFigure(
        id: "P2", quantity: "free paths there: stated deviation, median", unit: "m",
        textbook: (name, quantile(freePlain, 0.5)), value: quantile(free, 0.5), aim: .atMost(0.14))
    ]
  }

  /// Returns the greatest difference between stated and true probability in a fifth of the rows,
  /// sorted by probability. Free and blocked paths have the same weight.
  private static func gap(_ stated: [Double], _ rows: [LabelledPath]) -> Double {
    let blocked = rows.count { $0.isBlocked }
    let order = rows.indices.sorted { stated[$0] < stated[$1] }
    return (0..<5).map { part in
      let own = order[(part * order.count / 5)..<((part + 1) * order.count / 5)]
      var (sum, share, all) = (0.0, 0.0, 0.0)
      for row in own {
        let weight = 1 / Double(rows[row].isBlocked ? blocked : rows.count - blocked)
        sum += weight * stated[row]
        share += rows[row].isBlocked ? weight : 0
        all += weight
      }
      return abs(sum - share) / max(1e-12, all)
    }.max() ?? 0
  }
}
