// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Ranging

/// The phase differences of several pairs of antennas, measured in a known direction.
package struct ArraySample: Sendable, Hashable {
  /// Radians from x towards y, all round.
  package var azimuth: Double
  /// Radians from the plane of x and y towards z.
  package var elevation: Double
  /// Radians, wrapped or not; nil for a pair without a phase.
  package var phases: [Double?]

  package init(azimuth: Double, elevation: Double = 0, phases: [Double?]) {
    (self.azimuth, self.elevation, self.phases) = (azimuth, elevation, phases)
  }
}

/// Baseline, offset and coupling of each pair of an array of antennas, fitted to phases in known
/// directions, all round or not. The fit suits rings, and any pairs that a table of angles cannot
/// describe.
///
/// The model of the phase is a plane wave at two antennas, plus multiples of the azimuth for the
/// coupling of the antennas. The number of multiples and the accuracy are determined by
/// cross-validation over held-out directions.
package struct ArrayFit: Sendable {
  /// The shortest baseline in wavelengths with a direction: a shorter one has only noise.
  private static let leastBaseline = 0.05
  /// The largest multiple of the azimuth.
  private static let mostHarmonics = 6
  /// Radians beyond which a direction is on another side.
  private static let otherSide = Double.pi / 4
  /// The number of samples used to choose a form.
  private static let enough = 500

  /// The pairs, with deviations that agree with the errors of held-out directions.
  package private(set) var pairs: [AntennaPair]
  /// Multiples of the azimuth that are used, from 2 on; 1 for none.
  package let harmonics: Int
  /// The error of the azimuth of each sample in radians, when its direction is held out of the fit
  /// and each row is used alone. Nil for samples that are not part of the fit.
  package private(set) var errors: [Double?]
  /// The residuals of the rows whose direction is within 45 degrees of the truth.
  package let residuals: FitResiduals
  /// The shares of the errors within one and two stated deviations, of rows with a direction.
  package let shares: (one: Double, two: Double)
  /// Single rows without a direction, because two are nearly as likely, and rows with one farther
  /// off.
  package let ambiguous: Int
  package let otherSides: Int

  /// - Parameter samples: samples with equal numbers of phases.
  package init(_ samples: [ArraySample]) throws(FitFailure) {
    let count = samples.first?.phases.count ?? 0
    let usable = samples.indices.filter { index in
      let sample = samples[index]
      return abs(sample.azimuth) <= 4 * .pi && abs(sample.elevation) <= .pi / 2
        && sample.phases.contains { $0.map { abs($0) < 1e6 } ?? false }
    }
    guard usable.count >= 16 else { throw .tooFew(usable.count, needed: 16) }
    let used = usable.map { samples[$0] }
    let chosen = Self.some(used.count, Self.enough)
    let thinned = chosen.map { used[$0] }

    let starts = try (0..<count).map { pair throws(FitFailure) in
      try PairModel(startingWith: thinned, pair: pair)
    }
    func fitted(
      _ samples: [ArraySample], _ harmonics: Int, from starts: [PairModel]
    ) throws(FitFailure) -> [PairModel] {
      try starts.map { start throws(FitFailure) in
        var model = start
        try model.fit(samples, harmonics: harmonics)
        return model
      }
    }
    // The number of harmonics that predicts held-out directions best.
    let folds = DirectionParts(thinned.map(\.azimuth)).of
    var best = (harmonics: 1, cost: Double.infinity, pairs: [[AntennaPair]]())
    for harmonics in 1...Self.mostHarmonics {
      guard let all = try? fitted(thinned, harmonics, from: starts),
        let pairs = try? (0..<DirectionParts.count).map({ part in
          let others = thinned.indices.filter { folds[$0] != part }.map { thinned[$0] }
          return try fitted(others, harmonics, from: all).map(\.pair)
        })
      else { break }
      var cost = 0.0
      for (sample, part) in zip(thinned, folds) {
        for (pair, phase) in zip(pairs[part], sample.phases) {
          guard let rest = phase.map({ pair.residual($0, sample) }), rest.isFinite else { continue }
          cost += log(1 + rest * rest / 0.01)
        }
      }
      // An additional harmonic has to reduce the cost by a hundredth.
      if cost < 0.99 * best.cost { best = (harmonics, cost, pairs) }
    }
    guard best.cost.isFinite else { throw .noCurve }
    harmonics = best.harmonics
    pairs = try fitted(
      Self.some(used.count, 4 * Self.enough).map { used[$0] }, harmonics, from: starts
    )
    .map(\.pair)
    guard
      pairs.contains(where: { pair in
        guard case .baseline(let x, let y, let z) = pair.model else { return false }
        return (x * x + y * y + z * z).squareRoot() > Self.leastBaseline
      })
    else { throw .noCurve }

    let deviations = (0..<count).map { pair in
      PhaseErrors(
        zip(thinned, folds).compactMap { sample, part in
          sample.phases[pair].flatMap { phase in
            abs(phase) < 1e6
              ? (sample.azimuth, best.pairs[part][pair].residual(phase, sample)) : nil
          }
        })
    }
    for pair in pairs.indices {
      (pairs[pair].phaseDeviation, pairs[pair].modelDeviation) =
        (deviations[pair].noise, deviations[pair].model)
    }
    // The common error of the pairs appears only in directions.
    var left = best.pairs
    for part in left.indices {
      for pair in left[part].indices {
        (left[part][pair].phaseDeviation, left[part][pair].modelDeviation) =
          (deviations[pair].noise, deviations[pair].model)
      }
    }
    var outcomes = Self.outcomes(thinned, folds, left)
    let scale = outcomes.filter { $0.probability >= 0.7 }.map { abs($0.error) / $0.deviation }
      .quantile(0.683)
    if scale.isFinite, scale > 0 {
      for pair in pairs.indices {
        let (noise, model) = (deviations[pair].noise, deviations[pair].model)
        let whole = (noise * noise + model * model) * scale * scale
        pairs[pair].modelDeviation = min(.pi, max(1e-6, whole - noise * noise).squareRoot())
        for part in left.indices { left[part][pair].modelDeviation = pairs[pair].modelDeviation }
      }
      outcomes = Self.outcomes(thinned, folds, left)
    }
    errors = Array(repeating: nil, count: samples.count)
    for outcome in outcomes { errors[usable[chosen[outcome.index]]] = outcome.error }
    // A direction on another side is not an error of a few degrees.
    let told = outcomes.filter { $0.probability >= 0.7 }
    let near = told.filter { abs($0.error) <= Self.otherSide }
    (ambiguous, otherSides) = (outcomes.count - told.count, told.count - near.count)
    residuals = FitResiduals(near.map(\.error))
    let ratios = told.map { abs($0.error) / $0.deviation }
    func share(_ limit: Double) -> Double {
      Double(ratios.count { $0 <= limit }) / Double(max(1, ratios.count))
    }
    shares = (share(1), share(2))
  }

  /// Returns indices of at most `most` of `count` samples, one at a fixed pseudo-random offset in
  /// each stretch, so that periodic data are not aliased.
  fileprivate static func some(_ count: Int, _ most: Int) -> [Int] {
    let parts = min(count, most)
    return (0..<parts).map { part in
      let (low, high) = (part * count / parts, (part + 1) * count / parts)
      let mixed = (UInt64(part) &+ 1) &* 0x9E37_79B9_7F4A_7C15
      return low + Int((mixed ^ mixed >> 29) % UInt64(high - low))
    }
  }

  private struct Outcome {
    var index: Int
    var error: Double
    var deviation: Double
    var probability: Double
  }

  /// Returns the directions of single rows, each by the pairs fitted without it.
  private static func outcomes(
    _ samples: [ArraySample], _ folds: [Int], _ pairs: [[AntennaPair]]
  ) -> [Outcome] {
    let finders = pairs.map { DirectionFinder($0) }
    // A grid of elevations is slow.
    let isFlat = finders.allSatisfy { $0?.elevations.count == 1 }
    return some(samples.count, isFlat ? enough : 100).compactMap { index in
      let sample = samples[index]
      var track = DirectionFinder.Track()
      guard let finder = finders[folds[index]],
        let found = finder.update(&track, time: 0, sample.phases)
      else { return nil }
      let error =
        finder.isCircle ? wrapped(found.azimuth - sample.azimuth) : found.azimuth - sample.azimuth
      return Outcome(
        index: index, error: error, deviation: found.standardDeviation,
        probability: found.probability)
    }
  }
}

/// The parts of the directions of a calibration, which are held out in turn.
struct DirectionParts {
  static let count = 5
  /// The part of each sample: samples of nearly one direction are in the same one.
  let of: [Int]

  /// - Parameter directions: radians.
  init(_ directions: [Double]) {
    let bins = directions.map { Int((wrapped($0) / (4 * .pi / 180)).rounded()) }
    var parts: [Int: Int] = [:]
    for (rank, bin) in Set(bins).sorted().enumerated() { parts[bin] = rank % Self.count }
    of = bins.map { parts[$0] ?? 0 }
  }
}

/// The errors of a model of phases in held-out directions, in radians.
struct PhaseErrors {
  /// Noise of one phase, one standard deviation.
  let noise: Double
  /// Error of the model beside the noise.
  let model: Double

  /// - Parameter rests: the direction of each sample and the residual of its phase.
  init(_ rests: [(direction: Double, rest: Double)]) {
    let rests = rests.sorted { wrapped($0.direction) < wrapped($1.direction) }
    let changes = zip(rests, rests.dropFirst()).filter {
      abs(wrapped($0.direction - $1.direction)) < 1.5 * .pi / 180
    }
    func deviation(_ values: [Double]) -> Double { max(1e-3, 1.4826 * values.quantile(0.5)) }
    let whole = deviation(rests.map { abs($0.rest) })
    // Without neighbours the two cannot be separated.
    noise =
      changes.count >= 30
      ? min(whole, deviation(changes.map { abs(wrapped($0.rest - $1.rest)) / 2.0.squareRoot() }))
      : whole / 2.0.squareRoot()
    model = max(1e-6, whole * whole - noise * noise).squareRoot()
  }
}

extension AntennaPair {
  fileprivate func residual(_ phase: Double, _ sample: ArraySample) -> Double {
    wrapped(phase - self.phase(azimuth: sample.azimuth, elevation: sample.elevation))
  }
}

/// The model of one pair, and its fit by iterated least squares of wrapped residuals.
private struct PairModel {
  private(set) var pair: AntennaPair
  private let index: Int
  private let hasHeights: Bool
  /// Whether there are measurements from behind: only these distinguish behind from ahead.
  private let isAllRound: Bool

  /// Begins with the baseline at which the phases agree best, on a grid.
  init(startingWith samples: [ArraySample], pair index: Int) throws(FitFailure) {
    self.index = index
    let known = Self.known(samples, index)
    guard known.count >= 12 else { throw .tooFew(known.count, needed: 12) }
    let heights = known.map { sin($0.sample.elevation) }
    hasHeights = (heights.max() ?? 0) - (heights.min() ?? 0) > 0.2
    isAllRound = known.contains { cos($0.sample.azimuth) < -0.1 }
    // A coarser grid where there is one more dimension to search.
    let (step, reach) = hasHeights && isAllRound ? (0.12, 10) : (0.08, 15)
    let some = ArrayFit.some(known.count, 100).map { known[$0] }
    var best = (concentration: 0.0, pair: AntennaPair(.baseline(x: 0, y: 0, z: 0)))
    for height in hasHeights ? -reach...reach : 0...0 {
      for forward in isAllRound ? -reach...reach : 0...0 {
        for side in -reach...reach
        where forward * forward + side * side + height * height <= reach * reach {
          let (x, y, z) = (step * Double(forward), step * Double(side), step * Double(height))
          var pair = AntennaPair(.baseline(x: x, y: y, z: z))
          var mean = PhasorMean()
          for known in some { mean.add(pair.residual(known.phase, known.sample)) }
          // Of two equally good baselines the shorter one: a sector does not determine the rest.
          let concentration = mean.concentration - 0.02 * (x * x + y * y + z * z).squareRoot()
          guard concentration > best.concentration else { continue }
          pair.offset = mean.phase ?? 0
          best = (concentration, pair)
        }
      }
    }
    // Noise alone reaches some tenths with few samples.
    guard best.concentration > 0.4 else { throw .noCurve }
    pair = best.pair
  }

  private static func known(
    _ samples: [ArraySample], _ index: Int
  ) -> [(sample: ArraySample, phase: Double)] {
    samples.compactMap { sample in
      sample.phases[index].flatMap { abs($0) < 1e6 ? (sample: sample, phase: $0) : nil }
    }
  }

  /// - Parameter harmonics: multiples of the azimuth up to this one.
  mutating func fit(_ samples: [ArraySample], harmonics: Int) throws(FitFailure) {
    let known = Self.known(samples, index)
    guard known.count >= 12 else { throw .tooFew(known.count, needed: 12) }
    // 1, x, y, z, then cosine and sine of each multiple.
    var unknowns = [Double](repeating: 0, count: 4 + 2 * (harmonics - 1))
    if case .baseline(let x, let y, let z) = pair.model {
      unknowns[0...3] = [pair.offset, x, y, z]
    }
    for (multiple, harmonic) in pair.harmonics.enumerated().dropFirst() where multiple < harmonics {
      unknowns[2 * multiple + 2] = harmonic.cosine
      unknowns[2 * multiple + 3] = harmonic.sine
    }
    let rows = known.map { Self.terms($0.sample, harmonics) }
    for _ in 0..<15 {
      let rests = zip(rows, known).map { row, known in
        wrapped(known.phase - zip(row, unknowns).reduce(0) { $0 + $1.0.coefficient * $1.1 })
      }
      let noise = max(1e-3, 1.4826 * rests.map { abs($0) }.quantile(0.5))
      var equations = NormalEquations(count: unknowns.count)
      for (row, rest) in zip(rows, rests) {
        let standard = abs(rest) / noise
        if standard < 4 { equations.observe(row, rest, min(1, 1.5 / max(1e-9, standard))) }
      }
      // Coupling is half a radian at most, and 0 where nothing was measured.
      for unknown in unknowns.indices.dropFirst(4) {
        equations.observe([(unknown, 1)], -unknowns[unknown], noise * noise / 0.25)
      }
      equations.observe([(1, 1)], -unknowns[1], isAllRound ? noise * noise : 1e9)
      equations.observe([(3, 1)], -unknowns[3], hasHeights ? noise * noise : 1e9)
      guard let change = equations.solved() else { throw .noCurve }
      for unknown in unknowns.indices { unknowns[unknown] += change[unknown] }
      if change.allSatisfy({ abs($0) < 1e-4 }) { break }
    }
    pair.model = .baseline(
      x: isAllRound ? unknowns[1] : 0, y: unknowns[2], z: hasHeights ? unknowns[3] : 0)
    pair.offset = wrapped(unknowns[0])
    pair.harmonics = harmonics < 2 ? [] : [(0, 0)]
    for multiple in 2..<max(2, harmonics + 1) {
      pair.harmonics.append((unknowns[2 * multiple], unknowns[2 * multiple + 1]))
    }
  }

  private static func terms(
    _ sample: ArraySample, _ harmonics: Int
  ) -> [(index: Int, coefficient: Double)] {
    let flat = 2 * .pi * cos(sample.elevation)
    var result = [
      (index: 0, coefficient: 1.0), (1, flat * cos(sample.azimuth)),
      (2, flat * sin(sample.azimuth)), (3, 2 * .pi * sin(sample.elevation)),
    ]
    for multiple in 2..<max(2, harmonics + 1) {
      let angle = Double(multiple) * sample.azimuth
      result += [(2 * multiple, cos(angle)), (2 * multiple + 1, sin(angle))]
    }
    return result
  }
}
