// SPDX-License-Identifier: Apache-2.0

/// An antenna of one of several boards.
public struct BoardAntenna: Sendable, Hashable {
  /// What the board is called.
  public var board: String
  /// Which of its antennas, on which channel.
  public var port: AntennaPort

  /// From its parts.
  public init(_ board: String, channel: Int = 9, antenna: Int = 0) {
    self.board = board
    port = AntennaPort(channel: channel, antenna: antenna)
  }
}

extension BoardAntenna: Comparable, CustomStringConvertible {
  /// By board, channel and antenna.
  public static func < (a: Self, b: Self) -> Bool {
    (a.board, a.port.channel, a.port.antenna) < (b.board, b.port.channel, b.port.antenna)
  }

  /// For people.
  public var description: String {
    "\(board) antenna \(port.antenna) channel \(port.channel)"
  }
}

/// A distance that two boards measured where it is known.
public struct DelayMeasurement: Sendable, Hashable {
  /// One end.
  public var a: BoardAntenna
  /// The other end.
  public var b: BoardAntenna
  /// Metres, with the delays in it.
  public var measured: Double
  /// Metres, antenna to antenna.
  public var truth: Double

  /// From its parts.
  public init(_ a: BoardAntenna, _ b: BoardAntenna, measured: Double, truth: Double) {
    (self.a, self.b) = (a, b)
    (self.measured, self.truth) = (measured, truth)
  }
}

/// All measurements of one pair of antennas at one distance, as one.
struct DelayPlacement {
  var a: BoardAntenna
  var b: BoardAntenna
  var truth: Double
  var count: Int
  /// Metres that the distance is too long by: a robust mean.
  var excess: Double
  /// Of single measurements.
  var spread: Double

  /// Placements of measurements; distances that differ by less than a millimetre are one.
  static func of(_ measurements: [DelayMeasurement]) -> [DelayPlacement] {
    struct Key: Hashable {
      var a: BoardAntenna
      var b: BoardAntenna
      var millimetres: Int
    }
    var errors: [Key: [Double]] = [:]
    for one in measurements {
      guard one.measured.isFinite, 0...1e6 ~= one.truth, abs(one.measured) < 1e6 else { continue }
      let (a, b) = one.a < one.b ? (one.a, one.b) : (one.b, one.a)
      let key = Key(a: a, b: b, millimetres: Int((one.truth * 1000).rounded()))
      errors[key, default: []].append(one.measured - one.truth)
    }
    return errors.keys.sorted { ($0.a, $0.b, $0.millimetres) < ($1.a, $1.b, $1.millimetres) }
      .map { key in
        let values = errors[key] ?? []
        let (mean, spread) = robustMean(values)
        return DelayPlacement(
          a: key.a, b: key.b, truth: Double(key.millimetres) / 1000, count: values.count,
          excess: mean, spread: spread)
      }
  }
}

/// The mean of numbers, in which those far from the middle count less (Huber's loss), and the
/// standard deviation of the others.
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
