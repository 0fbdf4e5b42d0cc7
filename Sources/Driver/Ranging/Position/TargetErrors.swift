// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The errors of ranges and poses, learned from the residuals of a position.
///
/// Each model has an independent noise of each range, an error that changes as the device moves,
/// and a heading that drifts. The likelihood of a model is its weight. The stated covariance is the
/// covariance of the mixture. The position is estimated, and the other unknowns are integrated out:
/// the constant error of the ranges, the drift and the stretch of the path.
struct TargetErrors: Sendable {
  /// One standard deviation of a range in metres: noise and slow error together.
  private(set) var deviation: Double
  /// The number of neighbouring ranges that have the information of one independent range.
  private(set) var repetition = 1.0
  /// The drift of the heading in radians per second.
  private(set) var rate = 0.0
  /// The amplitude of the second term of a random drift's series, in radians.
  private(set) var wave = 0.0
  /// The ratio of the random drift to the assumed one.
  private(set) var drift = 1.0
  /// The models that were likely at the last comparison of all models.
  private var likely = models

  init(deviation: Double) { self.deviation = deviation }

  private struct Model {
    /// The share of a range's variance that changes slowly.
    var slow: Double
    /// The index in `lengths` of the distance over which the slow error changes.
    var length: Int
    /// The drift of the heading divided by the assumed drift.
    var drift: Double
  }

  private static let lengths = [0.4, 2.0]
  private static let models = [1.0, 5.0].flatMap { drift in
    [(0.03, 0), (0.4, 0), (0.4, 1), (0.8, 0), (0.8, 1)].map {
      Model(slow: $0, length: $1, drift: drift)
    }
  }

  /// The number of ranges whose weight the assumed deviation has.
  private static let priorCount = 2.0

  /// The result of a model.
  private struct Finding {
    var model: Model
    /// The log-likelihood, later replaced by the weight.
    var weight: Double
    var step: SIMD3<Double>
    var covariance: Symmetric3
    /// The variance of a range.
    var variance: Double
    var rate, wave: Double
  }

  /// Learns the errors from the residuals at the most likely position.
  ///
  /// - Parameter isComplete: whether all models are compared, rather than the models that were
  ///   likely before.
  /// - Returns: a step from the position to the mean of the models, and its covariance.
  mutating func refine(
    _ problem: TargetProblem, at best: TargetProblem.Minimum,
    _ parameters: TargetFinder.Parameters, isComplete: Bool
  ) -> (step: SIMD3<Double>, covariance: Symmetric3)? {
    let residuals = TargetResiduals(problem, at: best, deviation: deviation)
    let fades = Self.lengths.map(residuals.fades)
    var equations = TargetEquations()
    let prior = self.prior(problem, at: best, parameters)
    var findings = (isComplete ? Self.models : likely).compactMap { model in
      finding(model, residuals, fades[model.length], prior, parameters, &equations)
    }
    guard let greatest = findings.map(\.weight).max() else { return nil }
    var sum = 0.0
    for index in findings.indices {
      findings[index].weight = exp(findings[index].weight - greatest)
      sum += findings[index].weight
    }
    for index in findings.indices { findings[index].weight /= sum }
    if isComplete { likely = findings.filter { $0.weight > 0.02 }.map(\.model) }
    return mixture(findings, spacing: residuals.way / max(1, Double(problem.count - 1)))
  }

  /// Applies the means of the models. Returns the mean and the covariance of the step.
  private mutating func mixture(
    _ findings: [Finding], spacing: Double
  ) -> (step: SIMD3<Double>, covariance: Symmetric3) {
    var (mean, variance) = (SIMD3<Double>.zero, 0.0)
    (repetition, drift) = (0, 0)
    for one in findings {
      mean += one.step * one.weight
      variance += one.variance * one.weight
      rate += one.rate * one.weight
      wave += one.wave * one.weight
      drift += one.model.drift * one.weight
      // The sum of the correlations of a residual with all others: a geometric series in both
      // directions.
      let distance = spacing / Self.lengths[one.model.length]
      let others = 2 / max(1e-9, exp(min(50, distance)) - 1)
      repetition += one.weight * (1 + one.model.slow * others)
    }
    var covariance = Symmetric3.zero
    for one in findings {
      covariance.add(one.covariance.scaled(one.weight))
      covariance.add(one.step - mean, one.weight)
    }
    deviation = variance.squareRoot()
    return (mean, covariance)
  }

  /// The equations before the ranges are added. Weights of ranges are relative to the variance of a
  /// range, so precisions are multiplied by that variance.
  private struct Prior {
    var equations = TargetEquations()
    var duration: Double
  }

  private func prior(
    _ problem: TargetProblem, at best: TargetProblem.Minimum,
    _ parameters: TargetFinder.Parameters
  ) -> Prior {
    var prior = Prior(duration: max(0.1, -problem.ranges[0].time[0]))
    let variance = deviation * deviation
    func precision(_ deviation: Double) -> Double { variance / (deviation * deviation) }
    prior.equations.expect(.constant, -best.bias, precision(parameters.biasDeviation))
    prior.equations.expect(.stretch, 0, precision(parameters.drift))
    prior.equations.expect(
      .z, problem.height - best.position.z, precision(parameters.heightDeviation))
    let (information, slope) = problem.azimuthInformation(best.position)
    prior.equations.add(information.scaled(variance), slope * variance)
    // Ranges from a single position determine only a sphere, so a weak prior keeps the position
    // within 100 m.
    for unknown in [TargetEquations.Unknown.x, .y, .z] {
      prior.equations.expect(unknown, 0, 1e-4 * variance)
    }
    return prior
  }

  private func finding(
    _ model: Model, _ residuals: TargetResiduals, _ fades: [Double], _ prior: Prior,
    _ parameters: TargetFinder.Parameters, _ equations: inout TargetEquations
  ) -> Finding? {
    equations = prior.equations
    let variance = deviation * deviation
    let random = parameters.randomHeading * model.drift
    let constant = parameters.headingDrift * model.drift
    // The drift is Brownian motion, as the first two terms of a series. The first term is nearly a
    // constant rate.
    let ratePrecision = variance / (constant * constant + random * random / prior.duration)
    let wavePrecision = variance * 11.1 / (random * random * prior.duration)
    equations.expect(.rate, -rate, ratePrecision)
    equations.expect(.wave, -wave, wavePrecision)
    var logarithm = residuals.whiten(
      slow: model.slow, fades, drift: model.drift * model.drift / variance, 1 / variance,
      &equations)
    logarithm -= log(ratePrecision * wavePrecision)
    guard let solution = equations.solved() else { return nil }
    // The count excludes three residuals for the three unknowns without a prior.
    let count = max(0, residuals.count - 3) + Self.priorCount
    let assumed = parameters.rangeDeviation * parameters.rangeDeviation * Self.priorCount
    let rest = (assumed + solution.rest + residuals.within / (1 - model.slow)) / count
    return Finding(
      model: model,
      weight: -(logarithm + solution.logDeterminant + count * log(rest)) / 2,
      step: solution.step, covariance: solution.covariance.scaled(rest), variance: rest,
      rate: solution.rate, wave: solution.wave)
  }
}
