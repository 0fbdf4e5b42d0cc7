// SPDX-License-Identifier: Apache-2.0

/// The place of a tag with its uncertainty.
package struct TagPlace: Sendable, Hashable {
  /// The time in seconds.
  package var time: Double
  /// The position in metres.
  package var position: SIMD3<Double>
  /// The velocity in metres per second.
  package var velocity: SIMD3<Double>
  /// The covariance of the position.
  package var spread: Spread
  /// The likeliest way of moving.
  package var motion: MotionModel.Kind
  /// The probability that the tag moves.
  package var moving: Double

  package init(
    time: Double, position: SIMD3<Double>, velocity: SIMD3<Double>, spread: Spread,
    motion: MotionModel.Kind, moving: Double
  ) {
    (self.time, self.position, self.velocity, self.spread) = (time, position, velocity, spread)
    (self.motion, self.moving) = (motion, moving)
  }

  /// The radius in metres of the circle, seen from above, that contains the tag with a probability
  /// of 95 %.
  package var r95: Double { spread.r95 }
}

extension TagTrack {
  package enum Answer: Sendable, Hashable {
    case place(TagPlace)
    /// The place is too uncertain to be reported.
    case refused(Refusal, TagPlace)
    /// The measurements do not determine a place yet.
    case searching
  }

  package enum Refusal: Sendable, Hashable {
    /// Another place, such as the mirror image, is also likely.
    case ambiguous(or: SIMD3<Double>)
    /// The ellipse is too long relative to the distance to the anchors.
    case uncertain
    /// The place is outside of the anchors' hull, and only differences determine it. Their
    /// hyperbolas diverge there.
    case outside
  }

  /// The effect of a measurement.
  package struct Reception: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
      case used
      /// The measurement is an outlier.
      case rejected
      /// There is no place yet.
      case waiting
      case late, repeated, unusable
    }
    package var kind: Kind
    /// The measurement minus the value expected from the place alone. It includes the learned
    /// errors.
    package var residual = 0.0
    /// The squared innovation divided by its variance.
    package var normalised = 0.0

    init(_ kind: Kind, residual: Double = 0, normalised: Double = 0) {
      (self.kind, self.residual, self.normalised) = (kind, residual, normalised)
    }
  }
}

/// The last measurements of a tag, which determine its first place.
struct RecentMeasurements: Sendable, Codable {
  private static let capacity = 128
  /// The number of last measurements among which a repeated measurement is searched.
  private static let searched = 16
  /// The greatest difference in seconds between the times of a repeated measurement.
  ///
  /// The conversion from the source's clock may change in between.
  private static let sameTime = 0.001

  private var ring: [TagMeasurement] = []
  private var next = 0

  mutating func add(_ measurement: TagMeasurement) {
    if ring.count < Self.capacity {
      ring.append(measurement)
    } else {
      ring[next] = measurement
    }
    next = (next + 1) % Self.capacity
  }

  /// Returns whether this measurement is among the last measurements.
  func contains(_ measurement: TagMeasurement) -> Bool {
    var index = next
    for _ in 0..<min(Self.searched, ring.count) {
      index = (index == 0 ? ring.count : index) - 1
      // Values are compared first, since equal values are rarer than equal times.
      if ring[index].value == measurement.value, ring[index].kind.isLike(measurement.kind),
        abs(ring[index].time - measurement.time) < Self.sameTime
      {
        return true
      }
    }
    return false
  }

  /// Returns whether a saved ring is complete, and its anchors exist.
  func isUsable(anchors count: Int) -> Bool {
    let isWhole = ring.count < Self.capacity ? next == ring.count : 0..<Self.capacity ~= next
    return isWhole && ring.count <= Self.capacity && ring.allSatisfy { $0.isUsable(anchors: count) }
  }

  /// Returns the measurements within a time span, in order.
  func since(_ start: Double, before end: Double) -> [TagMeasurement] {
    let ordered = ring[(next % max(1, ring.count))...] + ring[..<(next % max(1, ring.count))]
    return ordered.filter { $0.time >= start && $0.time < end }.sorted { $0.time < $1.time }
  }
}

extension TagMeasurement.Kind {
  /// Returns whether two kinds are equal, apart from the round.
  fileprivate func isLike(_ other: Self) -> Bool {
    guard case .arrival(let anchor, _) = self, case .arrival(anchor, _) = other else {
      return self == other
    }
    return true
  }
}

/// The usual interval between the rounds of a tag.
struct Rhythm: Sendable, Hashable, Codable {
  /// The usual interval in seconds.
  private(set) var interval = 0.1
  private(set) var count = 0

  mutating func add(_ dt: Double) {
    count += 1
    // The mean adapts quickly at first. Later, a single gap counts as at most four intervals.
    let weight = max(1.0 / 16, 1 / Double(count))
    let limited = count < 4 ? min(dt, 10) : min(dt, 4 * interval)
    interval += weight * (limited - interval)
  }

  /// Returns whether the numbers of a saved state are plausible.
  var isUsable: Bool { interval > 0 && interval.isFinite && 0...1 << 40 ~= count }

  /// The time of silence in seconds after which a tag is lost.
  var patience: Double { min(max(12 * interval, 1), 600) }
}
