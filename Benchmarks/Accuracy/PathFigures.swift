// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import RangingScenes

/// Blocked paths, detected at places that were not learned: P1.
enum PathFigures {
  private static let inputs: [PathDiagnostic] = [
    .powerGap, .levelAtMetre, .receivedPower, .firstPathPower,
  ]

  static func rows(_ recordings: Recordings) -> [AccuracyFigure] {
    guard let hanyang = Hanyang(recordings) else { return [] }
    var rows: [LabelledPath] = []
    var ruled: [Double?] = []
    for kind in ["LOS", "NLOS"] {
      for one in hanyang.exchanges(kind) where abs(one.chip - one.truth) < 5 {
        var diagnostics = ReceptionDiagnostics()
        diagnostics.receivedPower = one.power
        diagnostics.firstPathPower = one.firstPathPower
        ruled.append(LineOfSightModel().probability(diagnostics))
        // Anchors at equal heights above and below the tag count as one room.
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
    ]
  }

  /// The greatest difference between stated and true probability, in fifths of the rows by
  /// probability, where both kinds have the same weight.
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
