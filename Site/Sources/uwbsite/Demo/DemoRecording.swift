// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import SiteServer
import UWBSite

/// The last true places of the tags.
///
/// The source of a demo adds them, and its screen compares them with the places of the engine.
final class DemoTruth {
  private var recent: [[(time: Double, place: SIMD3<Double>)]]

  init(tags: Int) { recent = Array(repeating: [], count: tags) }

  func add(_ place: SIMD3<Double>, _ tag: Int, _ time: Double) {
    if recent[tag].count == 8 { recent[tag].removeFirst() }
    recent[tag].append((time, place))
  }

  /// Returns the horizontal error of a place; nil if its round is forgotten.
  func error(_ place: TagPlace, _ tag: Int) -> Double? {
    guard let truth = recent[tag].last(where: { abs($0.time - place.time) < 0.01 }) else {
      return nil
    }
    let (x, y) = (place.position.x - truth.place.x, place.position.y - truth.place.y)
    return (x * x + y * y).squareRoot()
  }
}

/// The measurements of the demo as a source.
struct DemoRecording: Recording {
  private var world: DemoWorld
  private let truth: DemoTruth
  private var waiting: [SourceItem] = []

  init(_ world: DemoWorld, _ truth: DemoTruth) { (self.world, self.truth) = (world, truth) }

  mutating func next() -> SourceItem? {
    while waiting.isEmpty {
      guard let step = world.step() else { return nil }
      add(step)
    }
    return waiting.removeLast()
  }

  private mutating func add(_ step: DemoWorld.Step) {
    switch step {
    case .round(let tag, let time, let ranges, let place):
      truth.add(place, tag, time)
      let items = ranges.reversed().compactMap { range in
        Self.line(world.tags[tag], world.anchors[range.anchor], time, range.distance)
      }
      waiting = items.map(SourceItem.measurement)
      if waiting.isEmpty { waiting = [.failed] }
    case .unplugged(let anchor, _):
      let reason = "anchor \(world.anchors[anchor]) is unplugged"
      waiting = [.state(.interrupted(reason: reason, retryAfter: world.duration / 5))]
    case .pluggedIn(let anchor, _):
      waiting = [.state(.connected(identity: "anchor \(world.anchors[anchor]) is back"))]
    }
  }

  /// Returns a measurement as `uwbsite run` reads it.
  private static func line(
    _ tag: String, _ anchor: String, _ time: Double, _ distance: Double
  ) -> RangeLine? {
    let fields: [String: RangeLine.Field] = [
      "t": .number(time), "tag": .text(tag), "anchor": .text(anchor),
      "distance_m": .number(distance), "sd_m": .number(DemoWorld.deviation),
    ]
    return try? RangeLine(device: nil) { fields[$0] }
  }

  /// Returns the measurements of a step as lines of JSON.
  static func lines(_ step: DemoWorld.Step, _ world: DemoWorld) -> String {
    guard case .round(let tag, let time, let ranges, _) = step else { return "" }
    return ranges.map { range in
      let object = JSONValue.object([
        JSONMember("t", .number((time * 1e6).rounded() / 1e6)),
        JSONMember("tag", .string(world.tags[tag])),
        JSONMember("anchor", .string(world.anchors[range.anchor])),
        JSONMember("distance_m", .number(range.distance)),
        JSONMember("sd_m", .number(DemoWorld.deviation)),
      ])
      return "\(object)\n"
    }.joined()
  }
}
