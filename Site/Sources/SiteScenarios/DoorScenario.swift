// SPDX-License-Identifier: Apache-2.0

import Foundation
import UWBSite

/// Persons at a door with a board on each side of its leaf, 40 cm apart.
package struct DoorScenario: Sendable {
  package enum Walk: Sendable {
    /// A walk from outside to the door, within 45 degrees of the axis.
    case approach
    /// A walk inside, along the door at a distance of 1 m.
    case along
    /// A walk inside, towards the door.
    case insideApproach
  }

  package struct Result: Sendable {
    package var passes = 0
    package var unlocked = 0
    /// The number of unlocks by a rule that uses single rounds, for comparison.
    package var single = 0
    /// The seconds from a distance of 1.5 m to unlocking; infinite if the door did not unlock.
    package var delays: [Double] = []
  }

  private static let separation = 0.4
  private static let rate = 10.0
  private static let deviation = 0.05
  private var noise: ScenarioNoise

  package init(seed: UInt64) { noise = ScenarioNoise(seed: seed) }

  package mutating func run(_ walk: Walk, count: Int) -> Result {
    var result = Result(passes: count)
    for _ in 0..<count {
      let (unlock, single, near) = pass(walk)
      if let unlock { result.unlocked += unlock >= 0 ? 1 : 0 }
      if single { result.single += 1 }
      if let near { result.delays.append(unlock.map { $0 - near } ?? .infinity) }
    }
    return result
  }

  /// Returns the time of unlocking, whether a single round would unlock, and the time at which the
  /// person is 1.5 m from the door.
  private mutating func pass(_ walk: Walk) -> (unlock: Double?, single: Bool, near: Double?) {
    var watch = DoorWatch(separation: Self.separation)
    // Boards are calibrated to 3 cm.
    let biases = [0.03 * noise.normal(), 0.03 * noise.normal()]
    let shadow = noise.uniform() < 0.3 ? noise.exponential(0.2) : 0
    let angle = noise.uniform(-.pi / 4, .pi / 4)
    let side = noise.uniform() < 0.5 ? 1.0 : -1
    var unlock: Double?
    var (single, near): (Bool, Double?) = (false, nil)
    for step in 0..<60 {
      let time = (Double(step) + noise.uniform(-0.2, 0.2)) / Self.rate
      let place = Self.place(walk, time, angle, side)
      let distance = (place.x * place.x + place.y * place.y + 0.09).squareRoot()
      if walk == .approach, near == nil, distance <= 1.5 { near = time }
      guard noise.uniform() > 0.05 else { continue }
      let ranges = ranges(place, biases, shadow)
      if ranges.inside > ranges.outside, (ranges.inside + ranges.outside) / 2 < 1.5 {
        single = true
      }
      let isUnlocked = watch.update(
        at: time, inside: ranges.inside, outside: ranges.outside, deviation: Self.deviation)
      if isUnlocked { unlock = unlock ?? time }
    }
    return (unlock, single, near)
  }

  /// Returns the place seen from the middle of both boards; x points outside.
  private static func place(
    _ walk: Walk, _ time: Double, _ angle: Double, _ side: Double
  ) -> SIMD2<Double> {
    let way = max(0.5, 4 - 1.2 * time)
    switch walk {
    case .approach: return way * SIMD2(cos(angle), sin(angle))
    case .insideApproach: return -way * SIMD2(cos(angle), sin(angle))
    case .along: return SIMD2(-1, side * (3.6 - 1.2 * time))
    }
  }

  /// Returns the ranges to both boards, which hang 30 cm above the tag. The leaf delays the signal
  /// of the board on the other side, and the body delays both signals.
  private mutating func ranges(
    _ place: SIMD2<Double>, _ biases: [Double], _ shadow: Double
  ) -> (inside: Double, outside: Double) {
    func range(_ board: Double) -> Double {
      let gap = place - SIMD2(board, 0)
      return (gap.x * gap.x + gap.y * gap.y + 0.09).squareRoot()
    }
    var values = [range(-Self.separation / 2), range(Self.separation / 2)]
    for index in 0...1 {
      values[index] += biases[index] + shadow + Self.deviation * noise.normal()
      if noise.uniform() < 0.1 { values[index] += noise.exponential(0.3) }
    }
    values[place.x > 0 ? 0 : 1] += 0.05 + 0.03 * abs(noise.normal())
    return (values[0], values[1])
  }
}
