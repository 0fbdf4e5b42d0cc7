// SPDX-License-Identifier: Apache-2.0

import Foundation
import UWBSite

/// The cost of the engine: 1,000 tags, 10 rounds a second, 8 ranges a round.
enum Cost {
  static func figures() -> [Figure] {
    [1000, 5000].map { count in
      Figure(
        id: "R10", quantity: "\(count) tags at 10 Hz, 8 ranges: CPU time a round", unit: "µs",
        value: microseconds(tags: count), aim: 0...10)
    }
  }

  private static func microseconds(tags count: Int) -> Double {
    var site = SimulatedSite.hall
    site.blocked.share = 0
    let courses = (0..<20).map { site.course(seed: UInt64($0), seconds: 12) }
    var engine = Engine(
      tags: (0..<count).map { Engine.Tag("\($0)", height: site.height) },
      anchors: courses[0].anchors.enumerated().map { Engine.Anchor("A\($0)", $1) })
    let rounds = courses.map { course in
      Dictionary(grouping: course.measurements) { Int((10 * $0.time).rounded()) }
    }
    var (places, timed, spent) = (0, 0, 0.0)
    for step in 0..<110 {
      let start = clock()
      for tag in 0..<count {
        for measurement in rounds[tag % courses.count][step] ?? [] {
          engine.add(measurement, tag: tag)
        }
      }
      engine.drain { if case .place = $0 { places += 1 } }
      // The first places are searched, at a cost of their own.
      if step >= 30 {
        spent += Double(clock() - start)
        timed += count
      }
    }
    return places > 0 ? spent / Double(CLOCKS_PER_SEC) * 1e6 / Double(timed) : .infinity
  }
}
