// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Ranging

/// The phase differences of several pairs of antennas, measured in a known direction.
package struct ArraySample: Sendable, Hashable {
  /// The azimuth in radians, from x towards y: a full circle.
  package var azimuth: Double
  /// The elevation in radians, from the plane of x and y towards z.
  package var elevation: Double
  /// The phases in radians, wrapped or not; nil for a pair without a phase.
  package var phases: [Double?]

  package init(azimuth: Double, elevation: Double = 0, phases: [Double?]) {
    (self.azimuth, self.elevation, self.phases) = (azimuth, elevation, phases)
  }
}

/// The baseline, offset and coupling of each pair of an array of antennas, fitted to phases in
/// known directions. The directions may cover a full circle. The fit suits antennas in a ring, and
/// pairs that a table of angles cannot describe.
///
/// The model of the phase is a plane wave at two antennas, plus the effects of coupling at
/// multiples of the azimuth. Cross-validation determines the number of multiples and the accuracy:
/// each stretch of the recording is held out in turn. Reflections differ between stretches, so
/// multiples that fit only reflections do not reduce the errors in held-out ones.
package struct ArrayFit: Sendable {
  /// The least baseline in wavelengths that determines a direction. The phase of a shorter one is
  /// mostly noise.
  private static let leastBaseline = 0.05
  /// The error in radians beyond which a direction counts as on another side.
  private static let otherSide = Double.pi / 4
  /// The greatest number of samples in the fit. More samples hardly change it.
  private static let enough = 2000

  /// The pairs, with deviations that agree with the errors of held-out directions.
  package private(set) var pairs: [AntennaPair]
  /// The greatest multiple of the azimuth in the model; 1 for none beyond the baseline.
  package let harmonics: Int
  /// The error of the azimuth of each sample in radians. Its stretch is held out of the fit, and
  /// its row is used alone. Nil for samples that are not part of the fit.
  package private(set) var errors: [Double?]
  /// The residuals of the rows whose direction is within 45 degrees of the truth.
  package let residuals: FitResiduals
  /// The shares of errors within one and within two stated deviations, among rows with a direction.
  package let shares: (one: Double, two: Double)
  /// The number of rows without a direction, because two directions are nearly as likely.
  package let ambiguous: Int
  /// The number of rows whose direction is more than 45 degrees from the truth.
  package let otherSides: Int

  /// - Parameter samples: samples with equal numbers of phases, in the order of their times.
  package init(_ samples: [ArraySample]) throws(FitFailure) {
    let directions = try KnownDirections(samples)
    let starts = try (samples.first?.phases ?? []).indices.map { pair throws(FitFailure) in
      try PairModel(startingWith: directions.samples, pair: pair)
    }
    var heldOut = try HeldOutPairs.likeliest(directions, from: starts)
    harmonics = heldOut.harmonics
    pairs = try starts.fitted(to: directions.most(Self.enough), harmonics: harmonics).map(\.pair)
    guard pairs.contains(where: { $0.baseline > Self.leastBaseline }) else { throw .noCurve }
    for index in pairs.indices {
      let errors = PhaseErrors(
        heldOut.residuals(of: index, directions), noise: directions.noise(of: pairs[index], index))
      (pairs[index].phaseDeviation, pairs[index].modelDeviation) = (errors.noise, errors.model)
    }
    heldOut.setDeviations(like: pairs)
    var rows = heldOut.rows(directions)
    // Errors that the pairs share do not appear in single phases, so the errors of directions scale
    // the deviations.
    if let scale = rows.certain.scale {
      for pair in pairs.indices { pairs[pair].scaleDeviations(by: scale) }
      heldOut.setDeviations(like: pairs)
      rows = heldOut.rows(directions)
    }
    errors = Array(repeating: nil, count: samples.count)
    for row in rows { errors[directions.indices[row.index]] = row.error }
    let certain = rows.certain
    // The residuals include only errors of at most 45 degrees.
    let near = certain.filter { abs($0.error) <= Self.otherSide }
    (ambiguous, otherSides) = (rows.count - certain.count, certain.count - near.count)
    residuals = FitResiduals(near.map(\.error))
    shares = (certain.share(within: 1), certain.share(within: 2))
  }
}

/// The samples of a calibration, and the subset used to choose a model.
private struct KnownDirections {
  /// The least number of samples for a calibration.
  private static let fewest = 16
  /// The number of samples used to choose a model.
  private static let enough = 500

  private let usable: [ArraySample]
  /// The samples used to choose a model.
  let samples: [ArraySample]
  /// The derivatives of the phases of `samples`.
  let rows: [PairModel.Row]
  /// The indices of `samples` among all samples of the calibration.
  let indices: [Int]
  /// The stretch of the recording that contains each sample. A stretch is held out as a whole.
  let parts: [Int]

  init(_ all: [ArraySample]) throws(FitFailure) {
    let places = all.indices.filter { all[$0].isUsable }
    guard places.count >= Self.fewest else { throw .tooFew(places.count, needed: Self.fewest) }
    usable = places.map { all[$0] }
    indices = stretches(of: places.count, most: Self.enough).map { places[$0] }
    samples = indices.map { all[$0] }
    rows = samples.map(PairModel.Row.init)
    let count = samples.count
    parts = samples.indices.map { $0 * HeldOutPairs.count / count }
  }

  /// Returns at most `count` of all usable samples.
  func most(_ count: Int) -> [PairModel.Row] {
    stretches(of: usable.count, most: count).map { PairModel.Row(usable[$0]) }
  }

  /// Returns the noise of a pair in radians, from the changes of the residuals between consecutive
  /// rows with nearly the same direction. Returns nil if there are too few.
  func noise(of pair: AntennaPair, _ index: Int) -> Double? {
    let known = usable.map { sample -> PhaseErrors.Residual? in
      guard let phase = sample.phases[index], abs(phase) < PairModel.greatestPhase
      else { return nil }
      return (sample.azimuth, pair.residual(phase, sample))
    }
    let changes = zip(known, known.dropFirst()).compactMap { here, next in
      here.flatMap { here in next.map { (here, $0) } }
    }
    return PhaseErrors.noise(changes)
  }
}

extension ArraySample {
  fileprivate var isUsable: Bool {
    abs(azimuth) <= 4 * .pi && abs(elevation) <= .pi / 2
      && phases.contains { $0.map { abs($0) < PairModel.greatestPhase } ?? false }
  }
}

/// The pairs, fitted once without each stretch of the recording.
private struct HeldOutPairs {
  /// The number of stretches. A recording of a single turn then has stretches of 30 degrees. The
  /// others still determine coupling up to the sixth multiple.
  static let count = 12
  /// The residual in radians above which the cost grows logarithmically.
  private static let usualResidual = 0.1

  let harmonics: Int
  private var pairs: [[AntennaPair]]

  /// Fails if the samples do not determine this many harmonics.
  private init?(_ known: KnownDirections, from starts: [PairModel], harmonics: Int) {
    guard let all = try? starts.fitted(to: known.rows, harmonics: harmonics),
      let pairs = try? (0..<Self.count).map({ part in
        let others = known.rows.indices.filter { known.parts[$0] != part }.map { known.rows[$0] }
        return try all.fitted(to: others, harmonics: harmonics).map(\.pair)
      })
    else { return nil }
    (self.harmonics, self.pairs) = (harmonics, pairs)
  }

  /// Returns the pairs with the fewest harmonics whose cost in held-out stretches is at most one
  /// standard error above the lowest cost.
  static func likeliest(
    _ known: KnownDirections, from starts: [PairModel]
  ) throws(FitFailure) -> HeldOutPairs {
    var choices: [(fit: HeldOutPairs, costs: [Double])] = []
    for harmonics in 1...PairModel.Row.mostHarmonics {
      guard let fit = HeldOutPairs(known, from: starts, harmonics: harmonics) else { break }
      choices.append((fit, fit.costs(known)))
    }
    guard let best = choices.min(by: { $0.costs.reduce(0, +) < $1.costs.reduce(0, +) }),
      let fewest = choices.first(where: { isAsGood($0.costs, as: best.costs) })
    else { throw .noCurve }
    return fewest.fit
  }

  /// Returns whether costs exceed the costs of the same stretches by at most one standard error of
  /// the differences.
  private static func isAsGood(_ costs: [Double], as best: [Double]) -> Bool {
    let count = Double(costs.count)
    let differences = zip(costs, best).map { $0 - $1 }
    let sum = differences.reduce(0, +)
    let squares = differences.reduce(0) { $0 + ($1 - sum / count) * ($1 - sum / count) }
    return sum <= (squares * count / max(1, count - 1)).squareRoot()
  }

  /// Returns the cost of each held-out stretch.
  private func costs(_ known: KnownDirections) -> [Double] {
    var costs = [Double](repeating: 0, count: Self.count)
    for index in 0..<known.samples.count {
      let (sample, part) = (known.samples[index], known.parts[index])
      for pair in 0..<min(pairs[part].count, sample.phases.count) {
        guard let residual = sample.phases[pair].map({ pairs[part][pair].residual($0, sample) }),
          residual.isFinite
        else { continue }
        costs[part] += log(1 + residual * residual / (Self.usualResidual * Self.usualResidual))
      }
    }
    return costs
  }

  /// Returns the direction and the residual of each phase of a pair.
  func residuals(
    of pair: Int, _ known: KnownDirections
  ) -> [(direction: Double, residual: Double)] {
    zip(known.samples, known.parts).compactMap { sample, part in
      guard let phase = sample.phases[pair], abs(phase) < PairModel.greatestPhase
      else { return nil }
      return (sample.azimuth, pairs[part][pair].residual(phase, sample))
    }
  }

  mutating func setDeviations(like others: [AntennaPair]) {
    for part in pairs.indices {
      for (pair, other) in others.enumerated() {
        pairs[part][pair].phaseDeviation = other.phaseDeviation
        pairs[part][pair].modelDeviation = other.modelDeviation
      }
    }
  }

  /// Returns the directions of single rows by the pairs that were fitted without their stretch.
  func rows(_ known: KnownDirections) -> [HeldOutRow] {
    let finders = pairs.map { DirectionFinder($0) }
    // A search over elevations is slow, so fewer rows are used then.
    let isFlat = finders.allSatisfy { $0?.elevations.count == 1 }
    let indices = stretches(
      of: known.samples.count, most: isFlat ? known.samples.count : 100)
    return indices.compactMap { index in
      let sample = known.samples[index]
      var track = DirectionFinder.Track()
      guard let finder = finders[known.parts[index]],
        let found = finder.update(&track, time: 0, sample.phases)
      else { return nil }
      let error = found.azimuth - sample.azimuth
      return HeldOutRow(
        index: index, error: finder.isCircle ? wrapped(error) : error,
        deviation: found.standardDeviation, probability: found.probability)
    }
  }
}

/// The direction of a row whose stretch was held out of the fit.
private struct HeldOutRow {
  var index: Int
  /// The error in radians.
  var error: Double
  var deviation: Double
  var probability: Double
}

extension [HeldOutRow] {
  /// The share of a normal distribution within one standard deviation.
  private static let usualShare = 0.683
  /// The least probability of a direction that counts as certain.
  private static let leastProbability = 0.7

  /// The rows whose direction is certain.
  fileprivate var certain: [HeldOutRow] { filter { $0.probability >= Self.leastProbability } }

  private var ratios: [Double] { map { abs($0.error) / $0.deviation } }

  /// The factor on the deviations with which they agree with the errors; nil if it is undetermined.
  fileprivate var scale: Double? {
    let scale = ratios.quantile(Self.usualShare)
    return scale.isFinite && scale > 0 ? scale : nil
  }

  fileprivate func share(within deviations: Double) -> Double {
    Double(ratios.count { $0 <= deviations }) / Double(Swift.max(1, count))
  }
}

extension AntennaPair {
  /// The length of the baseline in wavelengths; 0 for models without a baseline.
  fileprivate var baseline: Double {
    guard case .baseline(let x, let y, let z) = model else { return 0 }
    return (x * x + y * y + z * z).squareRoot()
  }

  /// Multiplies the deviation of phases. Only changes the part that is constant in each direction.
  fileprivate mutating func scaleDeviations(by scale: Double) {
    let noise = phaseDeviation * phaseDeviation
    let whole = (noise + modelDeviation * modelDeviation) * scale * scale
    modelDeviation = min(.pi, max(1e-6, whole - noise).squareRoot())
  }
}
