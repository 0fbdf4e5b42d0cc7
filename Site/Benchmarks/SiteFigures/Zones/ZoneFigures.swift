// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteScenarios

/// Figures of zones and doors, beside simpler rules in the same run.
struct ZoneFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zones", abstract: "Zones, rooms and doors, simulated with fixed seeds.")

  @Option(help: "Hours for which a tag rests at an edge.") var hours = 24.0
  @Option(help: "Walks through a room, and passes of a door.") var passes = 10_000

  func run() {
    rest()
    walks()
    rooms()
    doors()
  }

  private func rest() {
    print("R11 \(hours) h at rest at an edge, deviation 10 cm, 10 estimates/s: wrong changes")
    print("    errors of      from edge   decided   30 cm margin   the estimate's side")
    for (memory, distance) in [(0.0, 0.0), (0, 0.1), (1, 0), (1, 0.1), (3, 0), (10, 0)] {
      let changes = ZoneScenarios.rest(
        hours: hours, distance: distance, deviation: 0.1, memory: memory, seed: 110)
      print(
        row(
          "    \(memory) s", "\(Int(100 * distance)) cm", "\(changes.decided)", "\(changes.margin)",
          "\(changes.plain)"))
    }
  }

  private func walks() {
    print("R11 \(passes) walks through a room at 1.2 m/s: seconds from the edge to the decision")
    print(
      "    errors of   deviation   p50, p95, p99, most   missed   extra   within 1, 2 deviations")
    for (memory, deviation) in [(0.0, 0.1), (1, 0.1), (1, 0.05), (1, 0.2)] {
      let walks = ZoneScenarios.walks(passes, deviation: deviation, memory: memory, seed: 111)
      let sorted = walks.delays.sorted()
      let parts = [0.5, 0.95, 0.99, 1].map {
        two(sorted[min(sorted.count - 1, Int($0 * Double(sorted.count)))])
      }
      let within = [1.0, 2].map { limit in
        one(100 * Double(walks.timeErrors.count { abs($0) <= limit }) / Double(sorted.count)) + " %"
      }
      print(
        row(
          "    \(memory) s", "\(Int(100 * deviation)) cm", parts.joined(separator: " "),
          "\(walks.missed)", "\(walks.extra)", within.joined(separator: " ")))
    }
  }

  private func rooms() {
    print("Room bounces an hour, six rooms, deviation 10 to 20 cm, 5 estimates/s, \(hours) h")
    print("    errors of   changes   decided   nearest anchor   15 cm inside   missed by each")
    for memory in [0.0, 1, 3] {
      var scenario = RoomScenario(seed: 112, memory: memory)
      let result = scenario.run(hours: hours)
      let scores = [result.decided, result.nearest, result.margin]
      let rates = scores.map { two(Double($0.bounces) / result.hours) }
      print(
        row(
          "    \(memory) s", "\(result.changes)", rates[0], rates[1], rates[2],
          scores.map { "\($0.missed)" }.joined(separator: " ")))
    }
  }

  private func doors() {
    print("R12 \(passes) passes of a door, boards 40 cm apart, 10 rounds/s, 5 cm: unlocked")
    print("    pass                 decided   single rounds")
    var scenario = DoorScenario(seed: 113)
    for (name, walk) in [
      ("inside, along at 1 m", DoorScenario.Walk.along), ("inside, to the door", .insideApproach),
    ] {
      let result = scenario.run(walk, count: passes)
      print(row("    \(name)", "\(result.unlocked)", "\(result.single)"))
    }
    let right = scenario.run(.approach, count: passes)
    let sorted = right.delays.sorted()
    let inTime = 100 * Double(sorted.count { $0 <= 0.7 }) / Double(passes)
    print(row("    outside, to the door", "\(right.unlocked)", "\(right.single)"))
    let parts = [0.5, 0.95, 0.98].map { two(sorted[Int($0 * Double(sorted.count))]) }
    print(
      "    within 0.7 s after 1.5 m: \(two(inTime)) %; p50, p95, p98: \(parts.joined(separator: " ")) s"
    )
  }

  private func row(_ cells: String...) -> String {
    cells.map { $0.padding(toLength: max(14, $0.count + 1), withPad: " ", startingAt: 0) }.joined()
  }

  private func one(_ value: Double) -> String { String(format: "%.1f", value) }
  private func two(_ value: Double) -> String { String(format: "%.2f", value) }
}
