// SPDX-License-Identifier: Apache-2.0

import Foundation
import UWBSite

/// Tags that rest and walk in six rooms with walls, and the rooms that three rules report.
package struct RoomScenario: Sendable {
  /// The room changes that a rule reports although they did not happen, and the room changes that
  /// it misses.
  package struct Score: Sendable {
    package var bounces = 0
    package var missed = 0
  }

  package struct Result: Sendable {
    package var decided = Score()
    /// The room of the anchor with the shortest range.
    package var nearest = Score()
    /// The room that contains the estimate with a margin of at least 15 cm.
    package var margin = Score()
    package var changes = 0
    package var hours = 0.0
  }

  private static let size = SIMD2(5.0, 4.0)
  /// The middles of the rooms, in two rows of three. An anchor is in the middle of each room.
  private static let centers = (0..<6).map {
    (SIMD2(Double($0 % 3), Double($0 / 3)) + SIMD2(0.5, 0.5)) * size
  }
  private static let rate = 5.0

  private var noise: ScenarioNoise
  private let memory: Double

  package init(seed: UInt64, memory: Double) {
    noise = ScenarioNoise(seed: seed)
    self.memory = memory
  }

  package mutating func run(hours: Double) -> Result {
    let zones = Self.centers.enumerated().map { index, center in
      ZoneScenarios.rectangle("\(index)", center - Self.size / 2, center + Self.size / 2)
    }
    var monitor = ZoneMonitor(zones)
    var error = TrackerError(memory: memory, &noise)
    var result = Result(hours: hours)
    var rules = Rules()
    var (time, place, room) = (0.0, Self.centers[0], 0)
    var path: [SIMD2<Double>] = []
    var rest = 10.0
    while time < hours * 3600 {
      step(&place, &path, &rest, &room)
      time += 1 / Self.rate
      let deviation = 0.1 + 0.05 * abs(sin(place.x) + cos(place.y))
      let mean = place + deviation * error.next(after: 1 / Self.rate, &noise)
      let events = monitor.update(
        "tag", at: time, PlaneEstimate(mean: mean, deviation: deviation))
      let now = Self.room(of: place)
      if rules.isTrueChange(now) { result.changes += 1 }
      for case .entered(let zone) in events.map(\.kind) { rules.decided.note(Int(zone) ?? 0) }
      rules.nearest.note(nearest(to: place))
      let enclosing = Self.room(of: mean)
      let off = mean - Self.centers[enclosing]
      if min(Self.size.x / 2 - abs(off.x), Self.size.y / 2 - abs(off.y)) > 0.15 {
        rules.margin.note(enclosing)
      }
    }
    result.decided = rules.decided.score(result.changes)
    result.nearest = rules.nearest.score(result.changes)
    result.margin = rules.margin.score(result.changes)
    return result
  }

  /// Moves on at 1.2 m/s to a place in a room, where the tag rests. Half of the places are beside a
  /// wall.
  private mutating func step(
    _ place: inout SIMD2<Double>, _ path: inout [SIMD2<Double>], _ rest: inout Double,
    _ room: inout Int
  ) {
    if rest > 0 {
      rest -= 1 / Self.rate
      return
    }
    if path.isEmpty {
      let goal = nextRoom(room)
      if goal != room {
        // The door is in the middle of the wall between both rooms.
        path.append((Self.centers[room] + Self.centers[goal]) / 2)
        path.insert(Self.centers[room], at: 0)
        path.append(Self.centers[goal])
      }
      room = goal
      let side = noise.uniform() < 0.5 ? noise.uniform(0.05, 0.3) : noise.uniform(0.3, 2)
      let x = noise.uniform(0.1, 2.4) * (noise.uniform() < 0.5 ? -1 : 1)
      path.append(Self.centers[goal] + SIMD2(x, noise.uniform() < 0.5 ? 2 - side : side - 2))
    }
    let gap = path[0] - place
    let (length, way) = ((gap.x * gap.x + gap.y * gap.y).squareRoot(), 1.2 / Self.rate)
    place = length > way ? place + way / length * gap : path.removeFirst()
    if path.isEmpty { rest = noise.uniform(20, 120) }
  }

  /// Chooses the same room, or a room beside it.
  private mutating func nextRoom(_ room: Int) -> Int {
    let neighbours = (0..<6).filter { abs($0 / 3 - room / 3) + abs($0 % 3 - room % 3) <= 1 }
    return neighbours[Int(noise.uniform(0, Double(neighbours.count)))]
  }

  private static func room(of place: SIMD2<Double>) -> Int {
    let column = min(2, max(0, Int(place.x / size.x)))
    return column + 3 * min(1, max(0, Int(place.y / size.y)))
  }

  /// Returns the anchor with the shortest range. Ranges have a noise of 10 cm, and each wall adds
  /// 30 cm on average.
  private mutating func nearest(to place: SIMD2<Double>) -> Int {
    let own = Self.room(of: place)
    var (best, index) = (Double.infinity, 0)
    for (number, center) in Self.centers.enumerated() {
      let gap = place - center
      var range = (gap.x * gap.x + gap.y * gap.y + 2).squareRoot() + 0.1 * noise.normal()
      let walls = abs(own % 3 - number % 3) + abs(own / 3 - number / 3)
      for _ in 0..<walls { range += noise.exponential(0.3) }
      if range < best { (best, index) = (range, number) }
    }
    return index
  }

  /// The reported rooms of the rules.
  private struct Rules {
    struct Reports {
      var last = 0
      var count = 0

      mutating func note(_ room: Int) {
        guard room != last else { return }
        (last, count) = (room, count + 1)
      }

      func score(_ changes: Int) -> Score {
        Score(bounces: max(0, count - changes), missed: max(0, changes - count))
      }
    }

    var decided = Reports()
    var nearest = Reports()
    var margin = Reports()
    var room = 0

    mutating func isTrueChange(_ now: Int) -> Bool {
      defer { room = now }
      return now != room
    }
  }
}
