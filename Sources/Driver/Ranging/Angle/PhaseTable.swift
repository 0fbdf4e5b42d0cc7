// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The measured phase difference of a pair of antennas at each angle.
///
/// Real antennas couple with each other and with their ground plane. The curve is therefore neither
/// a sine nor symmetric, and spans more than half a turn. Angles are in radians, relative to the
/// plane in the middle of the pair. The phases are continuous (not wrapped) and monotonic.
public struct PhaseTable: Sendable, Hashable {
  /// Angles in radians, rising.
  package let angles: [Double]
  /// The phase difference at each angle in radians, unwrapped and monotonic.
  package let phases: [Double]
  /// Whether phases rise with the angle.
  private let rises: Bool

  /// Creates a table from pairs of angle and phase in radians, in any order.
  ///
  /// Phases may be wrapped: each is assumed to be within half a turn of the previous one.
  /// Neighbours are averaged where noise or saturation makes the phases not monotonic.
  /// - Returns: nil unless there are two different angles, all values are finite, and the phase
  ///   changes.
  public init?(_ points: [(angle: Double, phase: Double)]) {
    let sorted = points.sorted { $0.angle < $1.angle }
    guard sorted.allSatisfy({ $0.angle.isFinite && abs($0.phase) < 1e6 }) else { return nil }
    var angles: [Double] = []
    var phases: [Double] = []
    for point in sorted where angles.last.map({ point.angle - $0 >= 1e-9 }) ?? true {
      let before = phases.last ?? point.phase
      angles.append(point.angle)
      phases.append(before + wrapped(point.phase - before))
    }
    guard angles.count >= 2 else { return nil }
    self.init(angles: angles, phases: phases)
  }

  /// Creates the table of a pair of ideal antennas: 2π·spacing·sin(angle), from -90 to 90 degrees.
  ///
  /// - Parameter spacing: in wavelengths, not 0.
  public init?(spacing: Double) {
    self.init(
      unwrapped: stride(from: -90, through: 90, by: 1).map { degrees in
        let angle = Double(degrees) * .pi / 180
        return (angle, 2 * .pi * spacing * sin(angle))
      })
  }

  /// Creates a table from pairs whose phases are continuous already.
  package init?(unwrapped points: [(angle: Double, phase: Double)]) {
    let sorted = points.sorted { $0.angle < $1.angle }
    guard sorted.count >= 2, sorted.allSatisfy({ $0.angle.isFinite && $0.phase.isFinite }),
      zip(sorted, sorted.dropFirst()).allSatisfy({ $0.angle < $1.angle })
    else { return nil }
    self.init(angles: sorted.map(\.angle), phases: sorted.map(\.phase))
  }

  private init?(angles: [Double], phases: [Double]) {
    let rises = phases[phases.count - 1] > phases[0]
    let monotone = Self.monotone(rises ? phases : phases.map { -$0 })
    guard monotone[monotone.count - 1] - monotone[0] > 1e-6 else { return nil }
    self.angles = angles
    self.phases = rises ? monotone : monotone.map { -$0 }
    self.rises = rises
  }

  /// Returns the non-decreasing sequence with the least squared distance from `values` (pool
  /// adjacent violators).
  private static func monotone(_ values: [Double]) -> [Double] {
    var blocks: [(sum: Double, count: Int)] = []
    for value in values {
      blocks.append((value, 1))
      while blocks.count > 1 {
        let (a, b) = (blocks[blocks.count - 2], blocks[blocks.count - 1])
        guard a.sum / Double(a.count) > b.sum / Double(b.count) else { break }
        blocks.removeLast(2)
        blocks.append((a.sum + b.sum, a.count + b.count))
      }
    }
    return blocks.flatMap { Array(repeating: $0.sum / Double($0.count), count: $0.count) }
  }

  /// The least and the greatest phase.
  package var span: ClosedRange<Double> {
    rises ? phases[0]...phases[phases.count - 1] : phases[phases.count - 1]...phases[0]
  }

  /// Returns the phase at an angle, limited to the ends of the table; both in radians.
  public func phase(at angle: Double) -> Double {
    let (index, part) = interval(of: angle, in: angles, rising: true)
    return phases[index] + part * (phases[index + 1] - phases[index])
  }

  /// Returns the angle of a continuous phase, limited to the ends of the table, and the slope of
  /// the phase over the angle there.
  public func angle(of phase: Double) -> (angle: Double, slope: Double) {
    let (index, part) = interval(of: phase, in: phases, rising: rises)
    let (a, b) = (angles[index], angles[index + 1])
    // A single flat interval would make the slope too small, and the noise of the angle too large.
    // So the slope spans the neighbouring intervals, too.
    let (low, high) = (max(0, index - 1), min(angles.count - 1, index + 2))
    let slope = abs(phases[high] - phases[low]) / (angles[high] - angles[low])
    return (a + part * (b - a), max(slope, 1e-3))
  }

  private func interval(
    of value: Double, in knots: [Double], rising: Bool
  ) -> (index: Int, part: Double) {
    var (low, high) = (0, knots.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if (knots[middle] <= value) == rising { low = middle } else { high = middle }
    }
    let width = knots[low + 1] - knots[low]
    guard width != 0 else { return (low, 0.5) }
    return (low, max(0, min(1, (value - knots[low]) / width)))
  }
}
