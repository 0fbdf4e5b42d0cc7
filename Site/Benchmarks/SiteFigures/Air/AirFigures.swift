// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteScenarios
import UWBSite

/// The planner's prediction beside a simulated air in which rounds collide.
struct AirFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "air", abstract: "Sessions without a common schedule: predicted and simulated.")

  @Option(help: "Blocks of each session.") var blocks = 5000

  @Option(help: "Simulated hours of controllers on one host.") var hours = 1.0

  func run() throws {
    print("R9 percent of the rounds that succeed, M sessions: predicted / simulated with hopping")
    print("    / worst and best session without hopping")
    for (round, block) in [(0.016, 0.2), (0.024, 0.2), (0.016, 1.0)] {
      var cells: [String] = []
      var largest = 0.0
      for sessions in [1, 2, 3, 5, 10, 20] {
        let predicted = success(round, block, sessions)
        let hopping = simulate(round, block, sessions, isHopping: true)
        let still = simulate(round, block, sessions, isHopping: false)
        let mean = hopping.reduce(0, +) / Double(sessions)
        largest = max(largest, abs(mean - predicted))
        let numbers = [predicted, mean, still.min() ?? 0, still.max() ?? 0].map {
          String(format: "%.0f", 100 * $0)
        }
        cells.append("\(sessions): \(numbers.joined(separator: "/"))")
      }
      let name = "\(Int(1000 * round)) ms of \(Int(1000 * block)) ms"
      print("    \(name)   \(cells.joined(separator: "  "))")
      print("      largest difference: \(String(format: "%.1f", 100 * largest)) points")
    }
    try printControllers()
  }

  /// Prints the rounds of controllers with clocks of ± 20 ppm that meet another round.
  private func printControllers() throws {
    print("controllers on one host, clocks of +- 20 ppm, \(hours) h: rounds, percent lost")
    print("    kept apart (starts, percent missed) / started once / without a plan")
    for (anchors, tags, rate) in [(4, 8, 5.0), (6, 16, 2), (8, 40, 1)] {
      let request = PlanRequest(anchors: anchors, tags: tags, rate: rate)
      let plan = try Plan(.twoWayByAnchors, request)
      let schedule = try ControllerSchedule(plan)
      func run(_ start: ControllerAir.Start) -> ControllerAir.Result {
        var air = ControllerAir(schedule, seed: 9)
        return air.run(start, seconds: 3600 * hours)
      }
      func percent(_ part: Int, _ whole: Int) -> String {
        String(format: "%.2f", 100 * Double(part) / Double(max(1, whole)))
      }
      let (kept, once, unplanned) = (run(.kept), run(.once), run(.unplanned))
      let gap = String(format: "%.1f", 1000 * schedule.gap)
      print(
        "    \(anchors) anchors, \(tags) tags, \(rate) Hz, gaps of \(gap) ms: \(kept.rounds) rounds, "
          + "\(percent(kept.lost, kept.rounds)) (\(kept.restarts), "
          + "\(percent(kept.missed, kept.rounds))) / \(percent(once.lost, once.rounds)) / "
          + percent(unplanned.lost, unplanned.rounds))
    }
  }

  private func success(_ round: Double, _ block: Double, _ sessions: Int) -> Double {
    Plan.success(2 * round, block, sessions: sessions - 1)
  }

  private func simulate(
    _ round: Double, _ block: Double, _ sessions: Int, isHopping: Bool
  ) -> [Double] {
    AirSimulation(sessions: sessions, round: round, block: block, isHopping: isHopping)
      .run(blocks: blocks, seed: 9)
  }
}
