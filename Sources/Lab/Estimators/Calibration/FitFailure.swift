// SPDX-License-Identifier: Apache-2.0

package import Ranging

/// The reason why a calibration could not be computed.
package enum FitFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// There are too few usable measurements.
  case tooFew(Int, needed: Int)
  /// There are too many antennas for one calculation.
  case tooMany(Int)
  /// The angles are all within this many radians, too few for a curve.
  case noSweep(Double)
  /// The phase does not depend on the angle: it is constant or noise.
  case noCurve
  /// An antenna cannot range with itself.
  case sameAntenna(BoardAntenna)

  /// The cause as a sentence.
  package var description: String {
    switch self {
    case .tooFew(let count, let needed):
      (count == 1
        ? "There is 1 usable measurement" : "There are \(count) usable measurements")
        + "; it takes \(needed)."
    case .tooMany(let count):
      "The distances connect \(count) antennas, too many to be solved together. Up to 2000 are "
        + "always possible, and up to 20000 where each was measured with a few: divide the table."
    case .noSweep(let radians):
      "The angles are all within \(Int((radians * 180 / .pi).rounded(.up))) degrees."
    case .noCurve:
      "The phase does not follow the angle. Check the units: pdoa_rad is in radians, pdoa_deg in "
        + "degrees."
    case .sameAntenna(let antenna): "\(antenna) cannot range with itself."
    }
  }
}
