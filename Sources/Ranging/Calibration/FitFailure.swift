// SPDX-License-Identifier: Apache-2.0

/// Why nothing could be learned from measurements.
public enum FitFailure: Error, Sendable, Hashable {
  /// There are fewer usable measurements than it takes.
  case tooFew(Int, needed: Int)
  /// The angles are all within this many radians: they say nothing of a curve.
  case noSweep(Double)
  /// The phase does not follow the angle: it is the same everywhere, or noise.
  case noCurve
  /// An antenna cannot range with itself.
  case sameAntenna(BoardAntenna)
}

extension FitFailure: CustomStringConvertible {
  /// A sentence with the cause.
  public var description: String {
    switch self {
    case .tooFew(let count, let needed):
      "There are \(count) usable measurements; it takes \(needed)."
    case .noSweep(let radians):
      "The angles are all within \(Int((radians * 180 / .pi).rounded(.up))) degrees."
    case .noCurve: "The phase does not follow the angle."
    case .sameAntenna(let antenna): "\(antenna) cannot range with itself."
    }
  }
}
