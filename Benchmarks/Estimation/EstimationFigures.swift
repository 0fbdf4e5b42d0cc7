// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Ranging
import RangingScenes

/// The time that the estimation of one measurement takes.
struct EstimationFigures {
  /// The number of measurements in one batch.
  static let batch = 256

  private let exchanges: [TwoWayExchange]
  private let phases: [Double]
  private var ranging = ResponderRanging()
  private var filter = RangeEstimator()
  private var angle: AngleTracker
  private var time = 0.0

  /// Returns nil if the antennas have no table.
  init?() {
    guard let table = AngleFigures.antennas[0].table else { return nil }
    angle = AngleTracker(table)
    var scene = TwoWayScene(seed: 71)
    scene.deviation = 100e-12
    exchanges = (0..<Self.batch).map { scene.exchange(at: Double($0) * 0.1) }
    var noise = Noise(seed: 72)
    phases = (0..<Self.batch).map { sine(Double($0) / 40) + 5 * degree * noise.normal() }
  }

  /// Computes one batch: the distance from six stamps, the filter, and the angle from a phase.
  mutating func update() -> Double {
    var sum = 0.0
    for index in exchanges.indices {
      time += 0.1
      let exchange = exchanges[index]
      if let distance = try? ranging.distance(exchange),
        let range = filter.update(
          RangeSample(time: time, distance: distance.distance, standardDeviation: 0.1)),
        let angle = angle.update(phase: phases[index], time: time)
      {
        sum += range.distance + angle.angle
      }
    }
    return sum
  }

  static func rows(_ settings: Settings) -> [Row] {
    guard var figures = EstimationFigures() else { return [] }
    let batches = settings.quick ? 500 : 4_000
    var times: [Double] = []
    times.reserveCapacity(batches)
    var sum = figures.update()
    let before = cuwb_test_thread_allocations()
    for _ in 0..<batches {
      let start = cuwb_test_now()
      sum += figures.update()
      times.append(Double(cuwb_test_now() - start) / Double(batch))
    }
    let allocated = cuwb_test_thread_allocations() - before
    precondition(sum.isFinite && sum != 0, "nothing was estimated")
    return [
      Row(
        figure: "stamps to distance, filter, angle", unit: "ns, of \(batch)",
        values: Percentiles(times), allocations: Double(allocated) / Double(batches * batch),
        aim: .atMost(p50: 2_000, p99: 2_000)),
      finding(settings),
    ]
  }

  /// Measures each update of a search on a walk of 15 m, with a sighting every 5 cm.
  private static func finding(_ settings: Settings) -> Row {
    var times: [Double] = []
    for seed in 1...(settings.quick ? 3 : 10) {
      var noise = Noise(seed: UInt64(seed))
      let target = SIMD3<Double>(noise.uniform(-4, 4), noise.uniform(-4, 4), noise.uniform(0, 2))
      var finder = TargetFinder()
      for step in 0..<300 {
        let way = Double(step) * 0.05
        let position = SIMD3<Double>(2 * sine(way / 2), way / 2, 1.2)
        let sighting = TargetSighting(
          time: Double(step) * 0.1, pose: Pose(position: position),
          range: (target - position).length + 0.05 * noise.normal())
        let start = cuwb_test_now()
        finder.update(sighting)
        times.append(Double(cuwb_test_now() - start) / 1000)
      }
    }
    return Row(
      figure: "target from own movement, an update", unit: "µs", values: Percentiles(times),
      aim: .atMost(p50: 2_000, p99: 2_000))
  }
}
