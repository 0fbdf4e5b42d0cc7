// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The propagation between two antennas.
struct Channel: Hashable, Sendable {
  struct Path: Hashable, Sendable {
    /// The delay in nanoseconds relative to a signal that travels straight through air.
    var delay: Double
    /// The level in dBm.
    var level: Double
    /// The phase of the carrier at its arrival in radians.
    var phase: Double
  }

  /// The direct path, then the reflection.
  var paths: [Path]
  /// The level of the noise in dBm.
  var noise: Double

  /// Creates the paths in free space, with -14 dBm sent and 50 dB lost over the first metre at 8
  /// GHz, plus walls.
  init(from a: SIMD3<Double>, to b: SIMD3<Double>, _ radio: RadioConditions) {
    let open = Self.openLevel(a.distance(to: b))
    let walls = radio.walls.filter { $0.isBetween(a, b) }
    paths = [
      Path(
        delay: walls.reduce(0) { $0 + $1.delay }, level: open - walls.reduce(0) { $0 + $1.loss },
        phase: 0),
      // The phase of the reflection is independent of the direct path, and walls do not affect it.
      Path(delay: radio.reflectionDelay, level: open - radio.reflectionLoss, phase: 2),
    ]
    noise = radio.noiseLevel
  }

  /// Returns the level without obstacles, in dBm.
  static func openLevel(_ metres: Double) -> Double { -64 - 20 * log10(max(0.05, metres)) }

  /// The path that leading-edge detection finds: at least 6 dB above the noise and at most 10 dB
  /// below the strongest path.
  var firstPath: Path {
    let least = max(noise + 6, peak.level - 10)
    return paths.first { $0.level >= least } ?? peak
  }

  var peak: Path { paths.max { $0.level < $1.level } ?? paths[0] }

  /// Level of all paths together, in dBm.
  var level: Double { 10 * log10(paths.reduce(0) { $0 + pow(10, $1.level / 10) }) }

  /// Returns the impulse response as amplitudes in units of the noise. Samples are 1.0016 ns apart,
  /// and the first path is at one of them.
  func response(
    samples: Int, firstPathAt index: Int, phase: Double
  ) -> [(real: Double, imaginary: Double)] {
    (0..<samples).map { sample in
      var sum = (real: 0.0, imaginary: 0.0)
      for path in paths {
        let place = (path.delay - firstPath.delay) / 1.0016 + Double(index)
        let off = (Double(sample) - place) / 1.2
        // A pulse of 500 MHz is about two samples wide.
        let height = pow(10, (path.level - noise) / 20) * exp(-off * off)
        let angle = path.phase + phase
        sum.real += height * cos(angle)
        sum.imaginary += height * sin(angle)
      }
      return sum
    }
  }
}

/// Returns the power ratio of decibels.
func power10(_ decibels: Double) -> Double { pow(10, decibels / 10) }

extension FixedWidthInteger {
  /// Creates the nearest number of the type, or 0 if the value is not a number. Chips report values
  /// beyond their range this way.
  init(nearest value: Double) {
    let rounded = value.rounded()
    self =
      Self(exactly: rounded) ?? (rounded.isNaN ? 0 : rounded < 0 ? Self.min : Self.max)
  }
}

extension Double {
  /// Radians as degrees in Q9.7, in the order of the wire.
  var degreesQ7: [UInt8] { Int16(nearest: self * 180 / .pi * 128).bytes }
  /// The number in Q8.8, in the order of the wire.
  var q8: [UInt8] { Int16(nearest: self * 256).bytes }
}
