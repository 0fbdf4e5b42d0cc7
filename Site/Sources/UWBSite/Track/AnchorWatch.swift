// SPDX-License-Identifier: Apache-2.0

/// The residuals of many tags at one anchor, which reveal a moved anchor.
///
/// The ranges of a moved anchor are too short for tags on one side, and too long for tags on the
/// other side.
struct AnchorWatch: Sendable, Codable {
  /// The seconds after which the weight of a residual has fallen to a third.
  private static let memory = 15.0
  /// The seconds of contradiction after which an anchor is reported.
  private static let patience = 15.0
  /// The displacement in metres below which an anchor counts as not moved.
  private static let least = 0.4
  private static let fewest = 30.0

  /// The normal equations of the displacement.
  private var information = Spread.zero
  private var slope = SIMD3<Double>.zero
  private var (count, squares, outliers) = (0.0, 0.0, 0.0)
  private var time = -Double.infinity
  /// The time since which the residuals contradict the anchor's place.
  private var since: Double?
  private(set) var isNamed = false
  /// The root mean square of the residuals in metres.
  var size: Double { count > 1 ? (squares / count).squareRoot() : 0 }
  /// The tags of this period and of the last one, as a bit for each number modulo 64.
  private var tags = Tags()

  private struct Tags: Codable {
    var period = 0
    var now: UInt64 = 0
    var before: UInt64 = 0
  }

  /// A contradiction that has just been found.
  enum Finding: Sendable, Hashable {
    /// The displacement in metres.
    case moved(SIMD3<Double>)
    /// The ranges fit no displacement, as from a blocked or faulty anchor.
    case doubtful
    case restored
  }

  /// Adds a range of a tag.
  ///
  /// - Parameters:
  ///   - direction: from the anchor to the tag, of length 1.
  ///   - residual: the range minus the expected range, in metres.
  mutating func add(
    tag: Int, time now: Double, direction: SIMD3<Double>, residual: Double, isOutlier: Bool
  ) -> Finding? {
    fade(to: now)
    note(tag, now)
    let limited = min(max(residual, -20), 20)
    count += 1
    squares += limited * limited
    // A reported anchor has a large deviation, so that its ranges never count as outliers.
    outliers += (isNamed ? limited.magnitude > Self.least : isOutlier) ? 1 : 0
    information.add(direction, 1)
    slope -= direction * limited
    return judge(now)
  }

  private mutating func fade(to now: Double) {
    guard now > time else { return }
    let part = time == -.infinity ? 0 : 1 / (1 + (now - time) / Self.memory)
    time = now
    information = information.scaled(part)
    slope *= part
    (count, squares, outliers) = (count * part, squares * part, outliers * part)
  }

  private mutating func note(_ tag: Int, _ now: Double) {
    let period = Int((now / Self.memory).rounded(.down))
    if period != tags.period {
      tags = Tags(period: period, before: period == tags.period &+ 1 ? tags.now : 0)
    }
    tags.now |= 1 << UInt64(tag % 64)
  }

  /// The displacement that explains the residuals best, and the share of them that it explains.
  private var displacement: (SIMD3<Double>, explained: Double) {
    var damped = information
    // Heights of anchors are weakly determined. The prior on z has the weight of ten ranges.
    damped.add(Spread(xx: 1, xy: 0, xz: 0, yy: 1, yz: 0, zz: 10), 1)
    let moved = damped.inverse?.times(slope) ?? .zero
    return (moved, squares > 0 ? (moved * slope).sum() / squares : 0)
  }

  private mutating func judge(_ now: Double) -> Finding? {
    guard count >= Self.fewest, (tags.now | tags.before).nonzeroBitCount >= 2 else { return nil }
    guard size > Self.least / 2 || isNamed else {
      since = nil
      return nil
    }
    let (moved, explained) = displacement
    let share = outliers / count
    let isMoved = moved.length > Self.least && explained > 0.6
    guard isMoved || share > 0.5 else {
      since = nil
      defer { isNamed = isNamed && share > 0.1 }
      return isNamed && share <= 0.1 ? .restored : nil
    }
    guard let begun = since else {
      since = now
      return nil
    }
    guard !isNamed, now - begun >= Self.patience else { return nil }
    return isMoved ? .moved(moved) : .doubtful
  }

  /// Notes that the last finding has been reported, after which the anchor counts as named.
  mutating func name() { isNamed = true }

  /// Returns the size of the residuals that contradict the place of this anchor or of another one,
  /// in metres; 0 without a contradiction, and nil for a named anchor.
  func doubt(at now: Double) -> Double? {
    guard !isNamed else { return nil }
    guard let since, now - since >= Self.patience, now - time < Self.memory else { return 0 }
    return size
  }
}
