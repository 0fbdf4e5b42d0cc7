// SPDX-License-Identifier: Apache-2.0
import Estimators
internal import Glibc
import Ranging

/// Directions by a ring of four antennas, whose phases may nearly equal the phases of another
/// direction. At each antenna, the scene adds the field of the peer and the fields of reflecting
/// objects beside the board. It uses no model of pairs.
package enum RingScene {
  private struct Field {
    var re: Double
    var im: Double

    init(_ amplitude: Double, _ phase: Double) {
      (re, im) = (amplitude * cos(phase), amplitude * sin(phase))
    }

    static func * (a: Field, b: Field) -> Field {
      var result = a
      (result.re, result.im) = (a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
      return result
    }

    static func += (a: inout Field, b: Field) { (a.re, a.im) = (a.re + b.re, a.im + b.im) }
  }

  /// Four antennas. Lengths are in wavelengths.
  private struct Ring {
    let positions: [SIMD2<Double>]
    /// The coupling of each antenna to each other one.
    private(set) var coupling: [[Field]]

    init(spacing: Double, _ noise: inout Noise) {
      let radius = spacing / 2.0.squareRoot()
      positions = [SIMD2(radius, 0), SIMD2(0, radius), SIMD2(-radius, 0), SIMD2(0, -radius)]
      var coupling = (0..<4).map { a in (0..<4).map { Field($0 == a ? 1 : 0, 0) } }
      for a in 0..<4 {
        for b in 0..<a {
          coupling[a][b] = Field(noise.uniform(0.02, 0.08), noise.uniform(-.pi, .pi))
          coupling[b][a] = coupling[a][b]
        }
      }
      self.coupling = coupling
    }

    /// Changes the coupling, as warmth or a hand do.
    mutating func drift(_ amplitude: Double, _ noise: inout Noise) {
      for a in 0..<4 {
        for b in 0..<a {
          coupling[a][b] += Field(amplitude, noise.uniform(-.pi, .pi))
          coupling[b][a] = coupling[a][b]
        }
      }
    }
  }

  /// Three objects that reflect.
  private struct Place {
    var things: [(position: SIMD2<Double>, reflection: Field)] = []

    init(_ noise: inout Noise) {
      self.init(amplitude: noise.uniform(0.02, 0.05), &noise)
    }

    init(amplitude: Double, _ noise: inout Noise) {
      for _ in 0..<3 {
        let (distance, angle) = (noise.uniform(0.8, 4), noise.uniform(-.pi, .pi))
        things.append(
          (
            SIMD2(distance * cos(angle), distance * sin(angle)),
            Field(amplitude, noise.uniform(-.pi, .pi))
          ))
      }
    }

    /// The phase of each antenna minus the phase of the next one.
    func phases(_ ring: Ring, _ azimuth: Double) -> [Double] {
      let direction = SIMD2(cos(azimuth), sin(azimuth))
      let fields = ring.positions.map { position in
        var field = Field(1, 2 * .pi * (position * direction).sum())
        for thing in things {
          let way = thing.position - position
          let turns = (thing.position * direction).sum() - (way * way).sum().squareRoot()
          field += thing.reflection * Field(1, 2 * .pi * turns)
        }
        return field
      }
      let heard = ring.coupling.map { row in
        var sum = Field(0, 0)
        for (part, field) in zip(row, fields) { sum += part * field }
        return atan2(sum.im, sum.re)
      }
      return (0..<4).map { wrap(heard[$0] - heard[($0 + 1) % 4]) }
    }
  }

  /// Returns the calibration by a turntable at one place. The baselines are known, and the fit adds
  /// terms at multiples of the azimuth.
  private static func calibrated(_ ring: Ring, at place: Place) -> [AntennaPair] {
    let turn = (0..<180).map { Double(2 * $0) * degree }
    let measured = turn.map { place.phases(ring, $0) }
    return (0..<4).map { index in
      let baseline = ring.positions[index] - ring.positions[(index + 1) % 4]
      var pair = AntennaPair(.baseline(x: baseline.x, y: baseline.y, z: 0))
      func rests() -> [Double] {
        zip(turn, measured).map { wrap($1[index] - pair.phase(azimuth: $0, elevation: 0)) }
      }
      let first = rests()
      pair.offset = first.reduce(0, +) / Double(turn.count)
      pair.harmonics = (1...6).map { multiple in
        func part(_ function: (Double) -> Double) -> Double {
          2 / Double(turn.count)
            * zip(turn, first).reduce(0) { $0 + $1.1 * function(Double(multiple) * $1.0) }
        }
        return (part(cos), part(sin))
      }
      let here = rests().reduce(0) { $0 + $1 * $1 } / Double(turn.count)
      // Another place adds an error of four degrees: 16 square degrees of variance.
      pair.modelDeviation = (here + 16 * degree * degree).squareRoot()
      return pair
    }
  }

  /// Returns the phases of a ring in two turns. Its neighbours are 0.42 wavelengths apart, and the
  /// phases have 5 degrees of noise. Between the turns, the objects that reflect a part of the
  /// amplitude move, and the coupling changes.
  ///
  /// - Returns: the baselines in wavelengths; the phases of each turn, and its azimuths.
  package static func turns(
    reflection: Double, drift: Double, seed: UInt64
  ) -> (
    baselines: [SIMD2<Double>], turns: [[(azimuth: Double, phases: [Double?])]]
  ) {
    var noise = Noise(seed: seed)
    var ring = Ring(spacing: 0.42, &noise)
    let turns = (0..<2).map { _ in
      let place = Place(amplitude: reflection, &noise)
      ring.drift(drift, &noise)
      return (0..<360).map { step in
        let azimuth = wrap(Double(step) * degree)
        let phases = place.phases(ring, azimuth).map { phase -> Double? in
          noise.uniform() < 0.01
            ? noise.uniform(-.pi, .pi) : wrap(phase + 5 * degree * noise.normal())
        }
        return (azimuth, phases)
      }
    }
    return ((0..<4).map { ring.positions[$0] - ring.positions[($0 + 1) % 4] }, turns)
  }

  /// The way in which the direction of the peer changes.
  package enum Path: CaseIterable {
    /// Along the axis of two neighbours or nearly so, which is the hardest case.
    case resting
    case walking
    /// In any direction, independent of earlier ones.
    case jumping
  }

  /// An estimated direction, compared with the true one.
  package struct Told: Sendable {
    package var isRight: Bool
    package var probability: Double
  }

  /// Returns directions estimated at other places than the place of calibration.
  package static func told(
    spacing: Double, _ path: Path, live: Bool, seeds: Range<UInt64>
  ) -> [Told] {
    var result: [Told] = []
    for seed in seeds {
      var noise = Noise(seed: seed)
      let ring = Ring(spacing: spacing, &noise)
      guard let finder = DirectionFinder(calibrated(ring, at: Place(&noise))) else { continue }
      let place = Place(&noise)
      let paths: [[Double]]
      switch path {
      case .walking:
        var azimuth = noise.uniform(-.pi, .pi)
        paths = [
          (0..<300).map { _ in
            azimuth += 0.6 * degree * noise.uniform(0.5, 1.5)
            return wrap(azimuth)
          }
        ]
      case .resting:
        paths = (0..<4).map { axis in
          let azimuth = (45 + 90 * Double(axis) + noise.uniform(-8, 8)) * degree
          return Array(repeating: wrap(azimuth), count: 25)
        }
      case .jumping:
        paths = [(0..<100).map { _ in noise.uniform(-.pi, .pi) }]
      }
      for path in paths {
        let rows = path.enumerated().map { step, azimuth in
          (
            time: Double(step) / 10,
            phases: place.phases(ring, azimuth).map { phase -> Double? in
              wrap(phase + 5 * degree * noise.normal())
            }
          )
        }
        for (found, azimuth) in zip(finder.directions(rows, live: live), path) {
          guard let found else { continue }
          result.append(
            Told(
              isRight: abs(wrap(found.azimuth - azimuth)) < 45 * degree,
              probability: found.probability))
        }
      }
    }
    return result
  }
}
