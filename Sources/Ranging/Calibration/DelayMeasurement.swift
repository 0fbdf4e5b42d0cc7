// SPDX-License-Identifier: Apache-2.0

/// One antenna of a board on one channel; each such pair has an antenna delay of its own.
public struct AntennaPort: Sendable, Hashable {
  /// The UWB channel, 5 or 9 on most chips.
  package var channel: Int
  /// The antenna, as the board numbers them.
  package var antenna: Int

  /// Creates a port.
  public init(channel: Int, antenna: Int = 0) {
    self.channel = channel
    self.antenna = antenna
  }
}

/// An antenna of one of several boards.
public struct BoardAntenna: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name of the board.
  public var board: String
  /// The antenna and its channel.
  public var port: AntennaPort

  /// Creates a value for one antenna.
  public init(_ board: String, channel: Int = 9, antenna: Int = 0) {
    self.board = board
    port = AntennaPort(channel: channel, antenna: antenna)
  }

  /// Sorts by board, channel and antenna.
  public static func < (a: Self, b: Self) -> Bool {
    (a.board, a.port.channel, a.port.antenna) < (b.board, b.port.channel, b.port.antenna)
  }

  /// The name as text.
  public var description: String {
    "\(board) antenna \(port.antenna) channel \(port.channel)"
  }
}

/// A distance between two boards, measured where the truth is known.
public struct DelayMeasurement: Sendable, Hashable {
  package var a: BoardAntenna
  package var b: BoardAntenna
  /// Metres, including the delays.
  package var measured: Double
  /// Metres, antenna to antenna.
  package var truth: Double

  /// Creates a measurement.
  public init(_ a: BoardAntenna, _ b: BoardAntenna, measured: Double, truth: Double) {
    (self.a, self.b) = (a, b)
    (self.measured, self.truth) = (measured, truth)
  }
}

extension AntennaDelayFit.Placement {
  /// Groups measurements by pair and placement.
  static func grouping(_ measurements: [DelayMeasurement]) -> [Self] {
    struct Ends: Hashable {
      var a: BoardAntenna
      var b: BoardAntenna
    }
    var pairs: [Ends: [DelayMeasurement]] = [:]
    for one in measurements {
      guard one.measured.isFinite, 0...1e6 ~= one.truth, abs(one.measured) < 1e6 else { continue }
      pairs[one.a < one.b ? Ends(a: one.a, b: one.b) : Ends(a: one.b, b: one.a), default: []]
        .append(one)
    }
    return pairs.sorted { ($0.key.a, $0.key.b) < ($1.key.a, $1.key.b) }.flatMap { ends, all in
      placements(all.map(\.truth), resolution: 1e-3).map { indices in
        let values = indices.map { all[$0].measured - all[$0].truth }
        let truth = indices.reduce(0) { $0 + all[$1].truth } / Double(indices.count)
        let (mean, spread) = robustMean(values)
        return Self(
          a: ends.a, b: ends.b, truth: (truth * 1000).rounded() / 1000, count: values.count,
          excess: mean, spread: spread)
      }
    }
  }
}

/// The measurements of each placement of one pair, by the known distances in their order.
///
/// Distances that are the same to a `resolution` in metres are one placement. Where hardly any is, somebody
/// walks: then a placement is what is within half of a metre, in which reflections stay much the same.
func placements(_ truths: [Double], resolution: Double) -> [[Int]] {
  let same = Dictionary(grouping: truths.indices) { (truths[$0] / resolution).rounded() }
  guard 3 * same.count > truths.count, same.count > 10 else {
    return same.sorted { $0.key < $1.key }.map(\.value)
  }
  var result: [[Int]] = []
  var first = Double.infinity
  for index in truths.indices {
    if abs(truths[index] - first) > 0.5 {
      first = truths[index]
      result.append([])
    }
    result[result.count - 1].append(index)
  }
  return result
}

/// The mean with Huber's loss, and the standard deviation without outliers.
func robustMean(_ values: [Double]) -> (mean: Double, deviation: Double) {
  var mean = values.quantile(0.5)
  let deviation = 1.4826 * values.map { abs($0 - mean) }.quantile(0.5)
  guard deviation > 0 else { return (mean, 0) }
  for _ in 0..<10 {
    var (sum, total) = (0.0, 0.0)
    for value in values {
      let weight = min(1, 1.5 * deviation / max(1e-300, abs(value - mean)))
      sum += weight * value
      total += weight
    }
    mean = sum / total
  }
  return (mean, deviation)
}
