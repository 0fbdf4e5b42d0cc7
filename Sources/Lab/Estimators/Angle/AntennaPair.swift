// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Ranging

/// A pair of antennas, and its phase difference for each direction.
///
/// The device frame has x forward, y to the left, and z up. The azimuth is the angle from x towards
/// y, the elevation the angle from that plane towards z.
package struct AntennaPair: Sendable {
  /// The dependence of the phase on the direction.
  package enum Model: Sendable {
    /// 2π times the projection of the direction on the baseline, in wavelengths.
    ///
    /// The baseline is the position of the first antenna minus the position of the second.
    case baseline(x: Double, y: Double, z: Double)
    /// A table of phases at each angle. The sine of the angle is the projection of the direction on
    /// an axis of length 1, such as (0, 1, 0) for antennas side by side.
    case table(PhaseTable, x: Double, y: Double, z: Double)
  }
  /// The dependence of the phase on the direction.
  package var model: Model
  /// The constant part of the phase in radians, from cables and chips.
  package var offset: Double
  /// The effects of coupling: amplitudes in radians of the cosine and sine of 1, 2, 3… times the
  /// azimuth.
  package var harmonics: [(cosine: Double, sine: Double)]
  /// Noise of a phase in radians, one standard deviation.
  package var phaseDeviation: Double
  /// The error of the model in radians, one standard deviation. It is the same each time in one
  /// direction, so no filter removes it.
  package var modelDeviation: Double

  /// Creates a pair. The default noise is 5 degrees: single frames show 3.5 to 5. The default error
  /// of the model is 7 degrees: with it, the stated deviations agree with recordings of other
  /// boards.
  package init(
    _ model: Model, offset: Double = 0, harmonics: [(cosine: Double, sine: Double)] = [],
    phaseDeviation: Double = 5 * .pi / 180, modelDeviation: Double = 7 * .pi / 180
  ) {
    self.model = model
    self.offset = offset
    self.harmonics = harmonics
    self.phaseDeviation = phaseDeviation
    self.modelDeviation = modelDeviation
  }

  /// Returns the expected phase difference, not wrapped.
  package func phase(azimuth: Double, elevation: Double) -> Double {
    let flat = cos(elevation)
    let (ux, uy) = (flat * cos(azimuth), flat * sin(azimuth))
    let uz = sin(elevation)
    var phase = offset
    switch model {
    case .baseline(let x, let y, let z): phase += 2 * .pi * (x * ux + y * uy + z * uz)
    case .table(let table, let x, let y, let z):
      phase += table.phase(at: clampedAsin(x * ux + y * uy + z * uz))
    }
    for index in 0..<harmonics.count {
      let (harmonic, multiple) = (harmonics[index], Double(index + 1) * azimuth)
      phase += harmonic.cosine * cos(multiple)
      phase += harmonic.sine * sin(multiple)
    }
    return phase
  }

  /// Whether the phase depends on the azimuth.
  package var determinesAzimuth: Bool {
    switch model {
    case .baseline(let x, let y, _), .table(_, let x, let y, _): abs(x) > 1e-3 || abs(y) > 1e-3
    }
  }

  /// Whether the pair distinguishes front from back, and whether it determines the elevation.
  var resolves: (front: Bool, elevation: Bool) {
    switch model {
    case .baseline(let x, _, let z), .table(_, let x, _, let z): (abs(x) > 1e-3, abs(z) > 1e-3)
    }
  }
}
