// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import UWBSite

/// The planner's prediction beside a simulated air in which rounds collide.
struct AirFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "air", abstract: "Sessions without a common schedule: predicted and simulated.")

  @Option(help: "Blocks of each session.") var blocks = 5000

  func run() {
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
