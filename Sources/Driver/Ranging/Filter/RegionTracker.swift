// SPDX-License-Identifier: Apache-2.0

/// Decides which regions one peer is in.
///
/// ```swift
/// var regions = RegionTracker(try RegionRules([.init("near", radius: 1.5)]))
/// for change in regions.update(estimate, at: seconds) { print(change.kind, change.region.name) }
/// ```
///
/// A peer enters or leaves a region after three consecutive estimates beyond the boundary. Each has
/// to be beyond it by two of its short-term deviations. Estimates before an absence of the peer do
/// not count. The tracker is a value without input or output: the caller passes the times.
public struct RegionTracker: Sendable {
  private struct Presence: Sendable {
    var zone: ProximityZone
    /// The time at which the peer entered; nil while it is outside.
    var since: Double?
    var hasDwelled = false
  }

  private let rules: RegionRules
  private var presences: [Presence]
  private var last: RangeEstimate?
  /// The time of the last measurement; nil while the peer is absent.
  private var heard: Double?

  /// Creates a tracker for a peer that has not been measured.
  public init(_ rules: RegionRules) {
    self.rules = rules
    presences = Self.outside(rules)
  }

  private static func outside(_ rules: RegionRules) -> [Presence] {
    rules.regions.map { Presence(zone: ProximityZone(enter: $0.enter, leave: $0.leave)) }
  }

  /// Updates the regions with the estimate of a measurement.
  ///
  /// - Parameters:
  ///   - estimate: the estimate of the distance. A rejected one only shows that the peer is
  ///     present.
  ///   - time: seconds on any clock that does not go back, the same for all calls.
  /// - Returns: the changes. A larger region is entered before, and left after, a smaller one.
  public mutating func update(_ estimate: RangeEstimate, at time: Double) -> [RegionChange] {
    var changes = advance(to: time)
    heard = time
    guard estimate.isAccepted else { return changes }
    last = estimate
    var (entered, left, dwelled): ([RegionChange], [RegionChange], [RegionChange]) = ([], [], [])
    for index in presences.indices {
      let event = presences[index].zone.update(
        distance: estimate.distance, standardDeviation: estimate.shortTermDeviation)
      switch event {
      case .entered:
        presences[index].since = time
        entered.append(change(index, .entered, .distance, estimate, since: time, time))
      case .left:
        // Only a peer that was inside can leave.
        if let since = presences[index].since {
          left.append(change(index, .left, .distance, estimate, since: since, time))
        }
        (presences[index].since, presences[index].hasDwelled) = (nil, false)
      case nil: break
      }
      if let since = presences[index].since, !presences[index].hasDwelled,
        time - since >= rules.dwell
      {
        presences[index].hasDwelled = true
        dwelled.append(change(index, .dwelled, .distance, estimate, since: since, time))
      }
    }
    changes += left + entered.reversed() + dwelled.reversed()
    return changes
  }

  /// Advances the time without a distance, for example after a failed round.
  ///
  /// - Returns: the regions that the peer leaves because of its silence, the smallest first.
  public mutating func advance(to time: Double) -> [RegionChange] {
    guard let heard, time - heard >= rules.absence else { return [] }
    return leave(.silence, heard + rules.absence)
  }

  /// Ends ranging with the peer.
  ///
  /// - Returns: the regions that the peer leaves, the smallest first.
  public mutating func end(at time: Double) -> [RegionChange] { leave(.ended, time) }

  /// The latest time for the next call of `advance(to:)`; nil while the peer is in no region.
  public var deadline: Double? {
    guard presences.contains(where: { $0.since != nil }) else { return nil }
    return heard.map { $0 + rules.absence }
  }

  private mutating func leave(_ cause: RegionChange.Cause, _ time: Double) -> [RegionChange] {
    var changes: [RegionChange] = []
    for index in presences.indices {
      guard let since = presences[index].since, let last else { continue }
      changes.append(change(index, .left, cause, last, since: since, time))
    }
    presences = Self.outside(rules)
    heard = nil
    return changes
  }

  private func change(
    _ index: Int, _ kind: RegionChange.Kind, _ cause: RegionChange.Cause,
    _ estimate: RangeEstimate, since: Double, _ time: Double
  ) -> RegionChange {
    RegionChange(
      region: rules.regions[index], kind: kind, cause: cause, estimate: estimate,
      duration: max(0, time - since))
  }
}
