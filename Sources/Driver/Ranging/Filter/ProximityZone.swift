// SPDX-License-Identifier: Apache-2.0

/// Decides whether a peer is within a distance, with hysteresis at the boundary.
public struct ProximityZone: Sendable, Hashable {
  /// A change of the decision.
  public enum Event: Sendable, Hashable {
    /// The peer came closer than `enter`.
    case entered
    /// The peer went beyond `leave`.
    case left
  }

  /// Metres below which a peer enters.
  package let enter: Double
  /// Metres beyond which a peer leaves; never less than `enter`.
  package let leave: Double
  /// The number of consecutive estimates beyond a boundary that make a change, at least 1.
  package let confirmations: Int
  /// Whether the peer is inside; nil before the first decision.
  public private(set) var isInside: Bool?
  private var agreeing = 0

  /// Creates a zone with two boundaries in metres.
  ///
  /// - Parameters:
  ///   - enter: a peer nearer than this is inside.
  ///   - leave: a peer farther than this is outside; at least `enter`.
  ///   - confirmations: the number of consecutive estimates beyond a boundary that make a change,
  ///     at least 1.
  public init(enter: Double, leave: Double, confirmations: Int = 3) {
    self.enter = enter
    self.leave = max(enter, leave)
    self.confirmations = max(1, confirmations)
  }

  /// Creates a zone around one boundary. The distance between `enter` and `leave` is four standard
  /// deviations of the filtered distance plus the movement within one interval.
  ///
  /// - Parameters:
  ///   - boundary: the distance of the boundary in metres.
  ///   - standardDeviation: one standard deviation of the filtered distance in metres.
  ///   - speed: metres per second.
  ///   - interval: seconds between two estimates.
  ///   - confirmations: the number of consecutive estimates beyond a boundary that make a change,
  ///     at least 1.
  public init(
    around boundary: Double, standardDeviation: Double = 0.07, speed: Double = 1.0,
    interval: Double = 0.2, confirmations: Int = 3
  ) {
    let band = 4 * standardDeviation + speed * interval
    self.init(
      enter: boundary - band / 2, leave: boundary + band / 2, confirmations: confirmations)
  }

  /// Updates the zone with a filtered distance in metres.
  ///
  /// - Parameters:
  ///   - distance: metres.
  ///   - standardDeviation: metres. The distance has to be beyond a boundary by two standard
  ///     deviations, but at most by half of `enter`, so that every zone can be entered.
  /// - Returns: the change, if there is one.
  public mutating func update(distance: Double, standardDeviation: Double = 0) -> Event? {
    guard distance.isFinite else { return nil }
    let margin = max(0, min(2 * standardDeviation, enter / 2))
    let isNear = distance + margin < enter
    let isFar = distance - margin > leave
    let wanted: Bool? = isNear ? true : isFar ? false : nil
    guard let wanted, wanted != isInside else {
      agreeing = 0
      return nil
    }
    agreeing += 1
    guard agreeing >= confirmations else { return nil }
    agreeing = 0
    isInside = wanted
    return wanted ? .entered : .left
  }
}
