// SPDX-License-Identifier: Apache-2.0

/// Whether a peer is within a distance, without toggling while it stands at the boundary.
public struct RangeZone: Sendable, Hashable {
  /// What happened.
  public enum Event: Sendable, Hashable {
    /// The peer came in.
    case entered
    /// The peer went out.
    case left
  }

  /// Metres below which a peer comes in.
  public let enter: Double
  /// Metres beyond which a peer goes out; never less than `enter`.
  public let leave: Double
  /// Estimates in a row that it takes, at least 1.
  public let confirmations: Int
  /// Whether the peer is in; nil until the first estimate that tells.
  public private(set) var isInside: Bool?
  private var agreeing = 0

  /// With two boundaries.
  public init(enter: Double, leave: Double, confirmations: Int = 3) {
    self.enter = enter
    self.leave = max(enter, leave)
    self.confirmations = max(1, confirmations)
  }

  /// With one boundary, and as much between coming in and going out as noise and movement need: four
  /// standard deviations of the filtered distance and the way of one interval.
  public init(
    around boundary: Double, standardDeviation: Double = 0.07, speed: Double = 1.0,
    interval: Double = 0.2, confirmations: Int = 3
  ) {
    let band = 4 * standardDeviation + speed * interval
    self.init(
      enter: boundary - band / 2, leave: boundary + band / 2, confirmations: confirmations)
  }

  /// Takes an estimate in.
  ///
  /// - Returns: what happened with it, if something did.
  public mutating func update(_ estimate: RangeEstimate) -> Event? {
    update(distance: estimate.distance)
  }

  /// Takes a distance in metres in that somebody has smoothed already.
  ///
  /// - Returns: what happened with it, if something did.
  public mutating func update(distance: Double) -> Event? {
    guard distance.isFinite else { return nil }
    let isNear = distance < enter
    let isFar = distance > leave
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
