// SPDX-License-Identifier: Apache-2.0

/// Tags that are fixed to one another, and are carried through a site together.
package struct WalkRig: Sendable, Hashable {
  package struct Tag: Sendable, Hashable {
    package var id: String
    /// The place on the rig in metres; z is the height above the floor.
    package var position: SIMD3<Double>

    package init(_ id: String, _ position: SIMD3<Double>) {
      (self.id, self.position) = (id, position)
    }
  }

  package var tags: [Tag]

  package init(_ tags: [Tag]) { self.tags = tags }

  /// The offsets in the plane from the middle of the rig.
  var offsets: [SIMD2<Double>] {
    let flat = tags.map { SIMD2($0.position.x, $0.position.y) }
    let mean = flat.reduce(.zero, +) / Double(max(flat.count, 1))
    return flat.map { $0 - mean }
  }

  /// The least width of the rig: its extent perpendicular to the best line through its tags.
  var width: Double {
    let (point, direction) = FoldSearch.principalLine(offsets)
    let across = offsets.map { ($0 - point).dot(direction.normal) }
    return (across.max() ?? 0) - (across.min() ?? 0)
  }
}

/// A range between a tag of a rig and an anchor.
package struct WalkReading: Sendable, Hashable {
  package var time: Double
  package var tag: String
  package var anchor: String
  package var distance: Double

  package init(time: Double, tag: String, anchor: String, distance: Double) {
    (self.time, self.tag, self.anchor, self.distance) = (time, tag, anchor, distance)
  }
}

/// The ranges of one place of the rig.
struct WalkPose: Sendable, Hashable {
  struct Range: Sendable, Hashable {
    var anchor: Int
    var tag: Int
    var distance: Double
  }

  var ranges: [Range]

  /// Returns the mean of the squared ranges of all tags to an anchor; nil unless each tag has one.
  func meanSquare(_ anchor: Int, tags: Int) -> Double? {
    let found = ranges.filter { $0.anchor == anchor }
    guard found.count == tags else { return nil }
    return found.reduce(0) { $0 + $1.distance * $1.distance } / Double(tags)
  }
}

/// The ranges of a walk, by places of the rig.
struct WalkRanges: Sendable {
  let anchors: [String]
  private(set) var poses: [WalkPose] = []

  /// The time within which the rig counts as one place.
  static let window = 0.1

  /// Groups readings by time. If there are more than `most` places, uses places at equal steps.
  init(_ readings: [WalkReading], rig: WalkRig, delay: Double, most: Int) {
    var names: [String: Int] = [:]
    var order: [String] = []
    for name in readings.map(\.anchor) where names[name] == nil {
      names[name] = order.count
      order.append(name)
    }
    anchors = order
    var tags: [String: Int] = [:]
    for (index, tag) in rig.tags.enumerated() { tags[tag.id] = index }
    var groups: [[WalkPose.Range]] = []
    var start = -Double.infinity
    for reading in readings.sorted(by: { $0.time < $1.time }) {
      guard let anchor = names[reading.anchor], let tag = tags[reading.tag] else { continue }
      if reading.time - start >= Self.window {
        start = reading.time
        groups.append([])
      }
      groups[groups.count - 1].append(
        .init(anchor: anchor, tag: tag, distance: reading.distance - delay))
    }
    let step = max(Double(groups.count) / Double(max(most, 1)), 1)
    var next = 0.0
    while Int(next) < groups.count {
      poses.append(WalkPose(ranges: Self.averaged(groups[Int(next)])))
      next += step
    }
  }

  /// Returns one range for each anchor and tag.
  private static func averaged(_ ranges: [WalkPose.Range]) -> [WalkPose.Range] {
    var groups: [[Int]: [Double]] = [:]
    for range in ranges { groups[[range.anchor, range.tag], default: []].append(range.distance) }
    return groups.sorted { ($0.key[0], $0.key[1]) < ($1.key[0], $1.key[1]) }.map { key, values in
      WalkPose.Range(
        anchor: key[0], tag: key[1], distance: values.reduce(0, +) / Double(values.count))
    }
  }
}
