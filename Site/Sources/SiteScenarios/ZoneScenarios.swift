// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// A tag at the edge of a zone, and walks through a zone, beside simpler rules.
package enum ZoneScenarios {
  /// The zone: a room of 5 m by 4 m.
  package static let room = rectangle("room", SIMD2(0, 0), SIMD2(5, 4))

  package static func rectangle(
    _ id: String, _ least: SIMD2<Double>, _ greatest: SIMD2<Double>
  ) -> Site.Zone {
    Site.Zone(
      id: id, corners: [least, SIMD2(greatest.x, least.y), greatest, SIMD2(least.x, greatest.y)])
  }

  /// The wrong changes of three rules.
  package struct Changes: Sendable {
    package var decided = 0
    /// The wrong changes of the rule that uses the side of the estimate alone.
    package var plain = 0
    /// The wrong changes of the rule with a band of 30 cm in which nothing changes.
    package var margin = 0

    package static func + (one: Changes, other: Changes) -> Changes {
      Changes(
        decided: one.decided + other.decided, plain: one.plain + other.plain,
        margin: one.margin + other.margin)
    }
  }

  /// Counts the changes of a tag that rests at a distance from an edge: each change is wrong,
  /// except the first decision.
  package static func rest(
    hours: Double, distance: Double, deviation: Double, memory: Double, rate: Double = 10,
    seed: UInt64
  ) -> Changes {
    var noise = ScenarioNoise(seed: seed)
    var error = TrackerError(memory: memory, &noise)
    var monitor = ZoneMonitor([room])
    var changes = Changes()
    var (plain, margin) = (distance > 0, distance > 0)
    var isFirst = true
    for step in 0..<Int(hours * 3600 * rate) {
      let mean = SIMD2(2.5, distance) + deviation * error.next(after: 1 / rate, &noise)
      let events = monitor.update(
        "tag", at: Double(step) / rate, PlaneEstimate(mean: mean, deviation: deviation))
      for event in events {
        if case .entered = event.kind, isFirst { isFirst = false } else { changes.decided += 1 }
      }
      if (mean.y > 0) != plain { (plain, changes.plain) = (mean.y > 0, changes.plain + 1) }
      if (margin && mean.y < -0.15) || (!margin && mean.y > 0.15) {
        (margin, changes.margin) = (!margin, changes.margin + 1)
      }
    }
    return changes
  }

  /// The results of walks through a room.
  package struct Walks: Sendable {
    /// The seconds from crossing the edge to the decision, inwards and outwards.
    package var delays: [Double] = []
    package var missed = 0
    package var extra = 0
    /// The error of the interpolated time over its stated deviation.
    package var timeErrors: [Double] = []
  }

  /// Walks straight through the room, at a random place and angle.
  package static func walks(
    _ count: Int, speed: Double = 1.2, deviation: Double, memory: Double, rate: Double = 10,
    seed: UInt64
  ) -> Walks {
    var noise = ScenarioNoise(seed: seed)
    var result = Walks()
    for _ in 0..<count {
      let along = noise.uniform(-0.4, 0.4)
      let direction = SIMD2(along, (1 - along * along).squareRoot())
      let foot = SIMD2(noise.uniform(1.7, 3.3), 0)
      let start = noise.uniform(-0.5, 0) - 3
      let crossings = [-start, 4 / (speed * direction.y) - start]
      var error = TrackerError(memory: memory, &noise)
      var monitor = ZoneMonitor([room])
      var events: [ZoneEvent] = []
      for step in 0..<Int((crossings[1] + 3) * rate) {
        let time = Double(step) / rate
        let place = foot + speed * (time - crossings[0]) * direction
        let mean = place + deviation * error.next(after: 1 / rate, &noise)
        events += monitor.update("tag", at: time, PlaneEstimate(mean: mean, deviation: deviation))
      }
      result.add(events, crossings)
    }
    return result
  }
}

extension ZoneScenarios.Walks {
  fileprivate mutating func add(_ events: [ZoneEvent], _ crossings: [Double]) {
    missed += max(0, 2 - events.count)
    extra += max(0, events.count - 2)
    for (event, crossing) in zip(events, crossings) {
      delays.append(event.decided - crossing)
      timeErrors.append((event.happened - crossing) / event.happenedDeviation)
    }
  }
}
