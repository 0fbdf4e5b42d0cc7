// SPDX-License-Identifier: Apache-2.0

import UWBSite

/// The work whose instructions `Benchmarks/Instructions/count` counts, with tags in a hall: rounds
/// of ranges, or blinks. Prints their number.
@main
enum SiteWork {
  static let anchors: [SIMD3<Double>] = [
    [0, 0, 2.4], [20, 0, 3], [20, 15, 2.7], [0, 15, 3.2], [10, 0, 2.4], [20, 7.5, 3],
    [10, 15, 2.7], [0, 7.5, 3.2],
  ]
  static let tags = 20

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count == 2, let count = Int(arguments[1]), count > 0 else {
      print("usage: SiteWork ranges|blinks NUMBER")
      return
    }
    print(arguments[0] == "blinks" ? BlinkWork.run(count) : ranges(count))
  }

  static func engine() -> Engine {
    Engine(
      tags: (0..<tags).map { Engine.Tag("\($0)", height: .within(0.8...1.6)) },
      anchors: anchors.enumerated().map { Engine.Anchor("A\($0)", .init($1)) })
  }

  /// Returns the place of a tag: twenty seconds along a line there and back, with seven at rest.
  static func place(_ tag: Int, _ time: Double) -> SIMD3<Double> {
    let (turn, phase) = (Double(tag) / Double(tags), time + Double(tag))
    let lap = (phase / 20 - (phase / 20).rounded(.down)) * 20
    let part = lap < 10 ? min(lap / 7, 1) : max(0, 1 - (lap - 10) / 7)
    return SIMD3(3 + 6 * turn + 6 * part, 2 + 7 * (1 - turn) + 4 * part, 1.1 + 0.3 * turn)
  }

  /// Returns a nearly normal number with a deviation of 0.58.
  static func noise(_ random: inout SplitMix64) -> Double {
    (0..<4).reduce(0) { sum, _ in sum + random.uniform() - 0.5 }
  }

  private static func ranges(_ count: Int) -> Int {
    var engine = engine()
    var random = SplitMix64(seed: 1)
    var places = 0
    let steps = (count + tags - 1) / tags
    for step in 0..<steps {
      for tag in 0..<tags { add(tag, Double(step) / 10, &engine, &random) }
      engine.drain { if case .place = $0 { places += 1 } }
    }
    precondition(places > 0 || steps < 10)
    return steps * tags
  }

  /// Adds a round of ranges of a tag.
  private static func add(
    _ tag: Int, _ time: Double, _ engine: inout Engine, _ random: inout SplitMix64
  ) {
    let place = place(tag, time)
    for (index, anchor) in anchors.enumerated() {
      let arm = place - anchor
      // Noise of 8 cm, and a constant error.
      let noise = noise(&random) * 0.14
      let constant = 0.06 * (Double((7 * index + 3 * tag) % 11) / 5 - 1)
      engine.add(
        TagMeasurement(
          time: time, .range(anchor: index), (arm * arm).sum().squareRoot() + noise + constant,
          deviation: 0.1),
        tag: tag)
    }
  }
}
