// SPDX-License-Identifier: Apache-2.0

/// Converts the times of a source to the clock of the engine.
///
/// A source stamps its measurements with its own clock, which may be set at any moment. The
/// difference between both clocks is the least delay of a measurement so far. A
/// recording has no clock of the engine, so the times of the source apply. After the source's clock
/// was set back, they continue from the last time.
package struct SourceClock: Sendable {
  /// The least change in seconds that counts as a set clock.
  private static let step = 5.0
  /// The number of measurements that must agree on a change. A single measurement may just be late.
  private static let agreement = 3
  /// The growth of the least delay in seconds a second, to follow a drifting clock.
  private static let leak = 1e-4

  /// The seconds to add to times of the source.
  private var offset: Double?
  /// The newest time of the source, and its arrival.
  private var newest: (time: Double, arrival: Double?)?
  /// The suspected change, and the number of measurements that agree with it.
  private var suspect = (change: 0.0, count: 0)

  package init() {}

  /// A time of the engine, and the seconds by which the source's clock was set just before it.
  package struct Reading: Sendable, Hashable {
    package var time: Double
    package var change: Double?
  }

  /// Returns the time of a measurement for the engine; nil for a time that nothing confirms.
  ///
  /// - Parameters:
  ///   - time: seconds by the clock of the source.
  ///   - arrival: seconds by the clock of the engine; nil for recordings.
  package mutating func read(_ time: Double, arrival: Double?) -> Reading? {
    guard let last = newest, let known = offset else {
      newest = (time, arrival)
      offset = arrival.map { $0 - time } ?? 0
      return Reading(time: time + (offset ?? 0))
    }
    // A silence is not a change of the clock. In a recording, only a step back is a change.
    let passed = last.arrival.flatMap { before in arrival.map { $0 - before } }
    let change = passed.map { time - last.time - $0 } ?? min(0, time - last.time)
    guard abs(change) < Self.step else { return confirm(change, time, arrival) }
    suspect.count = 0
    guard let arrival else {
      if time > last.time { newest = (time, nil) }
      return Reading(time: time + known)
    }
    if time > last.time { newest = (time, arrival) }
    let leaked = known + Self.leak * max(0, passed ?? 0)
    let least = min(leaked, arrival - time)
    offset = least
    return Reading(time: time + least)
  }

  /// Handles a time that contradicts the clock so far.
  private mutating func confirm(_ change: Double, _ time: Double, _ arrival: Double?) -> Reading? {
    if suspect.count > 0, abs(change - suspect.change) < Self.step {
      suspect.count += 1
    } else {
      suspect = (change, 1)
    }
    guard suspect.count >= Self.agreement, let known = offset, let last = newest else { return nil }
    suspect.count = 0
    // In a recording, the new times continue where the old times ended.
    offset = arrival.map { $0 - time } ?? (last.time + known - time)
    newest = (time, arrival)
    return Reading(time: time + (offset ?? 0), change: change)
  }

}
