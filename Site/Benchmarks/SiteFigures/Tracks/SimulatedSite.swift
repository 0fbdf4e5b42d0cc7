// SPDX-License-Identifier: Apache-2.0

import Foundation
import SiteScenarios
import UWBSite

/// A site whose tags, errors and blocked paths are drawn from a seed.
struct SimulatedSite {
  var name: String
  /// The places of anchors.
  var anchors: [SIMD3<Double>]
  /// The corners between which tags move, with their heights.
  var area: (low: SIMD3<Double>, high: SIMD3<Double>)
  var carrier = TagTrack.Carrier.person
  var height = TagTrack.Height.within(0.8...1.6)
  /// Metres per second.
  var speed = 1.2
  /// The probability of a pause at a corner of the path.
  var pauses = 0.3
  /// Deviations in metres: noise, delay of the tag, constant and slow error of an anchor.
  var noise = 0.08
  var delay = 0.1
  var constant = 0.06
  var slow = 0.075
  var stated = 0.1
  /// The share of time in which a path is blocked, and the mean excess in metres.
  var blocked = (share: 0.1, excess: 0.6)
  var rate = 10.0
  /// Whether a place is allowed.
  var isAllowed: @Sendable (SIMD3<Double>) -> Bool = { _ in true }

  /// Draws a course of some seconds.
  func course(seed: UInt64, seconds: Double) -> Course {
    var noise = ScenarioNoise(seed: seed, stream: 0x1234_5678)
    var course = Course(
      name: name, anchors: anchors.map { TagTrack.Anchor($0) }, carrier: carrier, height: height)
    let path = path(&noise, seconds)
    let delay = self.delay * noise.normal()
    let constant = anchors.map { _ in self.constant * noise.normal() }
    var slow = anchors.map { _ in self.slow * noise.normal() }
    var excess = anchors.map { _ in 0.0 }
    let dt = 1 / rate
    // Blocked paths last for two seconds on average.
    let (begin, end) = (blocked.share / (1 - blocked.share) * dt / 2, dt / 2)
    let decay = exp(-dt / 2)
    for (step, place) in path.enumerated() {
      let time = Double(step) * dt
      for index in anchors.indices {
        slow[index] =
          decay * slow[index] + (1 - decay * decay).squareRoot() * self.slow * noise.normal()
        if excess[index] > 0 {
          if noise.uniform() < end { excess[index] = 0 }
        } else if noise.uniform() < begin {
          excess[index] = noise.exponential(blocked.excess)
        }
        guard noise.uniform() < 0.95 else { continue }
        let arm = place - anchors[index]
        let range =
          (arm * arm).sum().squareRoot() + delay + constant[index] + slow[index]
          + excess[index] + self.noise * noise.normal()
        course.measurements.append(
          TagMeasurement(time: time, .range(anchor: index), max(0, range), deviation: stated))
        course.truth.append(place)
      }
    }
    return course
  }

  /// Walks from corner to corner, with rounded turns.
  private func path(_ noise: inout ScenarioNoise, _ seconds: Double) -> [SIMD3<Double>] {
    func corner(_ noise: inout ScenarioNoise) -> SIMD3<Double> {
      while true {
        let place = SIMD3(
          noise.uniform(area.low.x, area.high.x), noise.uniform(area.low.y, area.high.y),
          noise.uniform(area.low.z, area.high.z))
        if isAllowed(place) { return place }
      }
    }
    let dt = 1 / rate
    var (place, velocity) = (corner(&noise), SIMD3<Double>.zero)
    var (goal, pause) = (corner(&noise), 0.0)
    var result: [SIMD3<Double>] = []
    while Double(result.count) * dt < seconds {
      let arm = goal - place
      let distance = (arm * arm).sum().squareRoot()
      if distance < 0.5, pause <= 0 {
        if noise.uniform() < pauses { pause = noise.uniform(3, 10) }
        goal = corner(&noise)
      }
      pause -= dt
      let wanted = pause > 0 ? .zero : arm / max(distance, 0.5) * speed
      velocity += (wanted - velocity) * min(1, dt / 0.5)
      place += velocity * dt
      result.append(place)
    }
    return result
  }
}

extension SimulatedSite {
  /// Corners and middles of a rectangle, at alternating heights.
  private static func around(
    _ width: Double, _ depth: Double, _ heights: [Double], middles: Bool
  ) -> [SIMD3<Double>] {
    var places: [SIMD2<Double>] = [[0, 0], [width, 0], [width, depth], [0, depth]]
    if middles {
      places += [[width / 2, 0], [width, depth / 2], [width / 2, depth], [0, depth / 2]]
    }
    return places.enumerated().map { SIMD3($1.x, $1.y, heights[$0 % heights.count]) }
  }

  static let hall = SimulatedSite(
    name: "hall, 8 anchors", anchors: around(20, 15, [2.4, 3, 2.7, 3.2], middles: true),
    area: ([1, 1, 0.9], [19, 14, 1.5]))

  static let corridor = SimulatedSite(
    name: "corridor, 6 anchors",
    anchors: [
      [0, 0, 2.5], [8, 3, 2.6], [16, 0, 2.4], [24, 3, 2.5], [32, 0, 2.6], [40, 3, 2.5],
    ],
    area: ([0.5, 0.5, 0.9], [39.5, 2.5, 1.5]))

  static let yard: SimulatedSite = {
    var site = SimulatedSite(
      name: "yard with vehicles, 8 anchors", anchors: around(50, 30, [4, 5, 4.5], middles: true),
      area: ([2, 2, 1.5], [48, 28, 1.5]), carrier: .vehicle, height: .fixed(1.5), speed: 4)
    site.blocked = (0.05, 0.8)
    return site
  }()

  static let flight: SimulatedSite = {
    var site = SimulatedSite(
      name: "drone, 8 anchors",
      anchors: around(12, 10, [0.3, 6], middles: false)
        + around(12, 10, [6, 0.3], middles: false),
      area: ([1, 1, 1], [11, 9, 5]), carrier: .drone, height: .free, speed: 2)
    site.slow = 0.1
    return site
  }()

  /// Large slow errors, and noise that is stated too small.
  static let reflecting: SimulatedSite = {
    var site = hall
    site.name = "reflecting hall, 8 anchors"
    (site.slow, site.noise, site.stated) = (0.25, 0.1, 0.05)
    site.blocked = (0.2, 0.8)
    return site
  }()

  static let outside: SimulatedSite = {
    var site = SimulatedSite(
      name: "outside of 4 anchors", anchors: around(10, 10, [2.5, 3, 2.7, 3.2], middles: false),
      area: ([-15, -15, 0.9], [25, 25, 1.5]))
    site.isAllowed = { $0.x < -1 || $0.x > 11 || $0.y < -1 || $0.y > 11 }
    site.blocked = (0.05, 0.6)
    return site
  }()

  /// Anchors along a wall: each place has a mirror image behind the wall.
  static let wall: SimulatedSite = {
    var site = SimulatedSite(
      name: "before a wall with 4 anchors",
      anchors: [[0, 0, 2.5], [4, 0.3, 3.2], [8, 0, 2.5], [12, 0.3, 3]],
      area: ([-6, 2, 0.9], [18, 18, 1.5]))
    site.blocked = (0.05, 0.6)
    return site
  }()
}
