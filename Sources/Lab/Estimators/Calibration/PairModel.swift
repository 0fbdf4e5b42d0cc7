// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Ranging

/// The model of one pair, and its fit by iterated least squares of wrapped residuals.
struct PairModel {
  /// The magnitude in radians above which a number is not a phase.
  static let greatestPhase = 1e6
  /// The least number of phases for a fit.
  private static let fewest = 12
  /// The least concentration of phases. Noise alone has a few tenths if there are few samples.
  private static let leastConcentration = 0.4
  /// The gain of concentration that a wavelength more of baseline has to bring.
  private static let lengthCost = 0.02
  /// The greatest number of steps of the fit, and the change of an unknown below which it ends.
  private static let (steps, leastChange) = (15, 1e-4)
  /// The standard deviations beyond which residuals have less weight (Huber's loss), and no weight.
  private static let (tail, gate) = (1.5, 4.0)
  /// The prior standard deviation of the coupling in radians.
  private static let coupling = 0.5
  /// The weight of the observation that fixes an unknown at 0.
  private static let fixed = 1e9

  private(set) var pair: AntennaPair
  private let index: Int
  private let hasHeights: Bool
  /// Whether there are measurements from behind. Without them, behind and ahead are not
  /// distinguished.
  private let isAllRound: Bool

  /// A phase with its direction as a unit vector.
  private struct Sight {
    let phase: Double
    let direction: SIMD3<Double>

    init(_ known: (sample: ArraySample, phase: Double)) {
      let (azimuth, elevation) = (known.sample.azimuth, known.sample.elevation)
      let flat = cos(elevation)
      (phase, direction) = (
        known.phase, SIMD3(flat * cos(azimuth), flat * sin(azimuth), sin(elevation))
      )
    }
  }

  /// Creates a first model: the baseline of a grid with the best agreement of the phases.
  init(startingWith samples: [ArraySample], pair index: Int) throws(FitFailure) {
    self.index = index
    let known = try Self.known(samples, index)
    let heights = known.map { sin($0.sample.elevation) }
    hasHeights = (heights.max() ?? 0) - (heights.min() ?? 0) > 0.2
    isAllRound = known.contains { cos($0.sample.azimuth) < -0.1 }
    // A grid with three dimensions is coarser, so that the search takes as long.
    let (step, reach) = hasHeights && isAllRound ? (0.12, 10) : (0.08, 15)
    let thinned = stretches(of: known.count, most: 100).map { Sight(known[$0]) }
    var best = (concentration: 0.0, pair: AntennaPair(.baseline(x: 0, y: 0, z: 0)))
    for height in hasHeights ? -reach...reach : 0...0 {
      for forward in isAllRound ? -reach...reach : 0...0 {
        for side in -reach...reach
        where forward * forward + side * side + height * height <= reach * reach {
          let (x, y, z) = (step * Double(forward), step * Double(side), step * Double(height))
          var mean = PhasorMean()
          for index in 0..<thinned.count {
            let (phase, direction) = (thinned[index].phase, thinned[index].direction)
            mean.add(
              wrapped(phase - 2 * .pi * (x * direction.x + y * direction.y + z * direction.z)))
          }
          // The cost selects the shortest of several equally good baselines, because a sector does
          // not determine the baseline completely.
          let concentration =
            mean.concentration - Self.lengthCost * (x * x + y * y + z * z).squareRoot()
          guard concentration > best.concentration else { continue }
          best = (
            concentration, AntennaPair(.baseline(x: x, y: y, z: z), offset: mean.phase ?? 0)
          )
        }
      }
    }
    guard best.concentration > Self.leastConcentration else { throw .noCurve }
    pair = best.pair
  }

  private static func known(
    _ samples: [ArraySample], _ index: Int
  ) throws(FitFailure) -> [(sample: ArraySample, phase: Double)] {
    let known = samples.compactMap { sample in
      sample.phases[index].flatMap { abs($0) < greatestPhase ? (sample: sample, phase: $0) : nil }
    }
    guard known.count >= fewest else { throw .tooFew(known.count, needed: fewest) }
    return known
  }

  /// A sample, and the derivatives of its phases.
  struct Row {
    /// The greatest multiple of the azimuth.
    static let mostHarmonics = 6

    let sample: ArraySample
    /// The derivative of the phase by each unknown: 1, x, y, z, then the cosine and sine of each
    /// multiple.
    let coefficients: [Double]

    init(_ sample: ArraySample) {
      let flat = 2 * .pi * cos(sample.elevation)
      var result = [
        1, flat * cos(sample.azimuth), flat * sin(sample.azimuth), 2 * .pi * sin(sample.elevation),
      ]
      for multiple in 2..<(Self.mostHarmonics + 1) {
        let angle = Double(multiple) * sample.azimuth
        result += [cos(angle), sin(angle)]
      }
      (self.sample, coefficients) = (sample, result)
    }
  }

  /// - Parameter harmonics: the greatest multiple of the azimuth, at most `Row.mostHarmonics`.
  mutating func fit(_ all: [Row], harmonics: Int) throws(FitFailure) {
    var (rows, phases): ([[Double]], [Double]) = ([], [])
    for row in 0..<all.count {
      guard let phase = all[row].sample.phases[index], abs(phase) < Self.greatestPhase
      else { continue }
      rows.append(all[row].coefficients)
      phases.append(phase)
    }
    guard rows.count >= Self.fewest else { throw .tooFew(rows.count, needed: Self.fewest) }
    var unknowns = unknowns(harmonics)
    var residuals = phases
    for _ in 0..<Self.steps {
      for row in 0..<rows.count {
        let coefficients = rows[row]
        var expected = 0.0
        for index in 0..<unknowns.count { expected += coefficients[index] * unknowns[index] }
        residuals[row] = wrapped(phases[row] - expected)
      }
      guard let change = change(rows, residuals, unknowns) else { throw .noCurve }
      for unknown in unknowns.indices { unknowns[unknown] += change[unknown] }
      if change.allSatisfy({ abs($0) < Self.leastChange }) { break }
    }
    set(unknowns, harmonics)
  }

  /// Returns the unknowns of the pair: 1, x, y, z, then the cosine and sine of each multiple.
  private func unknowns(_ harmonics: Int) -> [Double] {
    var unknowns = [Double](repeating: 0, count: 4 + 2 * (harmonics - 1))
    if case .baseline(let x, let y, let z) = pair.model {
      unknowns[0...3] = [pair.offset, x, y, z]
    }
    for (multiple, harmonic) in pair.harmonics.enumerated().dropFirst() where multiple < harmonics {
      unknowns[2 * multiple + 2] = harmonic.cosine
      unknowns[2 * multiple + 3] = harmonic.sine
    }
    return unknowns
  }

  /// Returns the change of the unknowns that reduces the residuals; nil if the rows do not
  /// determine it.
  private func change(
    _ rows: [[Double]], _ residuals: [Double], _ unknowns: [Double]
  ) -> [Double]? {
    let noise = max(1e-3, residuals.map { abs($0) }.medianDeviation)
    var equations = NormalEquations(count: unknowns.count)
    for row in 0..<rows.count {
      let standard = abs(residuals[row]) / noise
      if standard < Self.gate {
        equations.observe(
          all: rows[row], residuals[row], min(1, Self.tail / max(1e-9, standard)))
      }
    }
    // The prior keeps coupling at 0 if directions without measurements leave it undetermined.
    for unknown in unknowns.indices.dropFirst(4) {
      equations.observe(
        [(unknown, 1)], -unknowns[unknown], noise * noise / (Self.coupling * Self.coupling))
    }
    equations.observe([(1, 1)], -unknowns[1], isAllRound ? noise * noise : Self.fixed)
    equations.observe([(3, 1)], -unknowns[3], hasHeights ? noise * noise : Self.fixed)
    return equations.solved()
  }

  private mutating func set(_ unknowns: [Double], _ harmonics: Int) {
    pair.model = .baseline(
      x: isAllRound ? unknowns[1] : 0, y: unknowns[2], z: hasHeights ? unknowns[3] : 0)
    pair.offset = wrapped(unknowns[0])
    pair.harmonics = harmonics < 2 ? [] : [(0, 0)]
    for multiple in 2..<max(2, harmonics + 1) {
      pair.harmonics.append((unknowns[2 * multiple], unknowns[2 * multiple + 1]))
    }
  }
}

extension [PairModel] {
  /// Returns the models after fitting, each starting from its current values.
  func fitted(to rows: [PairModel.Row], harmonics: Int) throws(FitFailure) -> [PairModel] {
    try map { start throws(FitFailure) in
      var model = start
      try model.fit(rows, harmonics: harmonics)
      return model
    }
  }
}

extension AntennaPair {
  /// Returns the phase minus the expected phase in radians, wrapped.
  func residual(_ phase: Double, _ sample: ArraySample) -> Double {
    wrapped(phase - self.phase(azimuth: sample.azimuth, elevation: sample.elevation))
  }
}
