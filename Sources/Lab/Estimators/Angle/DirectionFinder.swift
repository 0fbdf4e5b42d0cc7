// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Ranging

/// Estimates the direction to a peer from the phase differences of several pairs of antennas.
///
/// The method is a Bayesian filter over a grid of azimuths with steps of one degree. Its
/// measurements are the wrapped residuals of the phases. From row to row, the peer moves a little
/// or, rarely, jumps. Ambiguities are kept until other rows resolve them, and wrong phases have
/// little weight.
public struct DirectionFinder: Sendable {
  /// A direction with its uncertainty, in radians.
  public struct Direction: Sendable, Hashable {
    /// The angle from x towards y in radians.
    public var azimuth: Double
    /// The angle towards z in radians; the assumed elevation if the antennas do not determine it.
    public var elevation: Double
    /// One standard deviation of the azimuth in radians, around the most likely direction.
    public var standardDeviation: Double
    /// The probability that the direction is right, rather than a mirror image or another turn of
    /// the phase.
    public var probability: Double
  }

  /// The pairs, in the order of the phases.
  package let pairs: [AntennaPair]
  /// The random walk of the azimuth in radians per square root of a second. The default suits a
  /// person who walks by.
  package var wander = 0.5
  /// The probability that a phase is an outlier.
  package var outliers = 0.02
  /// The probability that the peer jumps to any other direction before the next row.
  package var jumps = 1e-3
  let azimuths: [Double]
  let elevations: [Double]
  let isCircle: Bool
  /// The expected phases, ordered by elevation, azimuth and pair.
  private let expected: [Double]

  /// Creates a finder; nil without pairs.
  ///
  /// - Parameters:
  ///   - pairs: the pairs of antennas, each with its table of phases.
  ///   - elevation: radians, assumed if the antennas do not determine it.
  package init?(_ pairs: [AntennaPair], elevation: Double = 0) {
    guard !pairs.isEmpty else { return nil }
    self.pairs = pairs
    isCircle = pairs.contains { $0.resolves.front }
    let degree = Double.pi / 180
    let steps = isCircle ? -180..<180 : -90..<91
    azimuths = steps.map { Double($0) * degree }
    elevations =
      pairs.contains { $0.resolves.elevation }
      ? stride(from: -80, through: 80, by: 2).map { Double($0) * degree } : [elevation]
    var expected: [Double] = []
    expected.reserveCapacity(azimuths.count * elevations.count * pairs.count)
    for elevation in elevations {
      for azimuth in azimuths {
        for pair in pairs {
          expected.append(pair.phase(azimuth: azimuth, elevation: elevation))
        }
      }
    }
    self.expected = expected
  }

  /// The likelihoods of the azimuths for one row.
  struct Likelihood {
    /// The log-likelihood of each azimuth.
    var values: [Double]
    /// The index of the most likely elevation for each azimuth.
    var elevations: [Int]
    /// The greatest of `values`.
    private(set) var most = -Double.infinity
    /// The likelihoods divided by the greatest one; empty if `most` is not finite.
    private(set) var ratios: [Double] = []

    init(values: [Double], elevations: [Int]) {
      (self.values, self.elevations) = (values, elevations)
      for bin in 0..<values.count where values[bin] > most { most = values[bin] }
      guard most.isFinite else { return }
      ratios = values
      for bin in 0..<values.count { ratios[bin] = exp(values[bin] - most) }
    }
  }

  /// A phase and the probability density of phases around it: `height` · exp(-residual² ·
  /// `weight`).
  private struct KnownPhase {
    var pair: Int
    var phase: Double
    var weight: Double
    var height: Double
  }

  /// Returns the likelihood of the phases. Ignores phases that are nil or not finite.
  func likelihood(_ phases: [Double?]) -> Likelihood {
    var values = [Double](repeating: -.infinity, count: azimuths.count)
    var chosen = [Int](repeating: 0, count: azimuths.count)
    let floor = outliers / (2 * .pi)
    // Which side is right depends on the whole error. Its constant part is also added to the
    // deviation at the end.
    let variances = pairs.map {
      $0.phaseDeviation * $0.phaseDeviation + $0.modelDeviation * $0.modelDeviation
    }
    var known: [KnownPhase] = []
    for (pair, variance) in variances.enumerated() where pair < phases.count {
      guard let phase = phases[pair], phase.isFinite else { continue }
      let height = (1 - outliers) / (2 * Double.pi * variance).squareRoot()
      known.append(
        KnownPhase(pair: pair, phase: phase, weight: 1 / (2 * variance), height: height))
    }
    var first = 0
    for elevation in 0..<elevations.count {
      for azimuth in 0..<azimuths.count {
        var sum = 0.0
        for index in 0..<known.count {
          let one = known[index]
          let residual = wrapped(one.phase - expected[first + one.pair])
          sum += log(one.height * exp(-residual * residual * one.weight) + floor)
        }
        first += variances.count
        if sum > values[azimuth] {
          values[azimuth] = sum
          chosen[azimuth] = elevation
        }
      }
    }
    return Likelihood(values: values, elevations: chosen)
  }

  /// Returns the direction for each row of a recording.
  ///
  /// - Parameters:
  ///   - rows: the time in seconds and the phase of each pair in radians. A row is independent of
  ///     the previous one if its time is not finite or is earlier.
  ///   - live: whether each direction uses only its row and earlier rows.
  /// - Returns: nil for rows without a phase.
  package func directions(
    _ rows: [(time: Double, phases: [Double?])], live: Bool = false
  ) -> [Direction?] {
    if live {
      var track = Track()
      return rows.map { update(&track, time: $0.time, $0.phases) }
    }
    var finder = self
    var seen = rows.prefix(300).map { likelihood($0.phases) }
    finder.jumps = likeliestJumps(rows, seen)
    var result: [Direction?] = []
    result.reserveCapacity(rows.count)
    // Rows are processed in overlapping pieces, because a row takes some kilobytes.
    let (piece, overlap) = (2000, 100)
    var carried: [Double]?
    var width = LearnedWidth()
    var sides = RecordedSides(DirectionSides(pairs, isCircle: isCircle))
    var start = 0
    while start < rows.count {
      let end = min(rows.count, start + piece)
      let reach = min(rows.count, end + overlap)
      seen += rows[(start + seen.count)..<max(start + seen.count, reach)].map {
        likelihood($0.phases)
      }
      result += finder.directions(
        rows[start..<reach], seen, count: end - start, &carried, &width, &sides)
      seen.removeFirst(end - start)
      start = end
    }
    // Independent rows have independent errors, so the odds of sides do not apply.
    guard finder.jumps < 1 else { return result }
    var odds = sides.odds.makeIterator()
    for index in result.indices where result[index] != nil {
      result[index]?.limit(odds: odds.next() ?? 0)
    }
    return result
  }

  /// The state of a peer after a row.
  package struct Track: Sendable {
    private(set) var belief: [Double]?
    private(set) var time = 0.0
    fileprivate var width = LearnedWidth()
    fileprivate var sides: DirectionSides?
    fileprivate var jumps = Jumps()

    package init() {}

    mutating func take(_ belief: [Double], _ time: Double) {
      (self.belief, self.time) = (belief, time)
    }
  }

  /// The learned rate at which a peer jumps between rows.
  fileprivate struct Jumps: Sendable {
    /// The number of rows after which a row has little weight.
    private static let memory = 30.0
    private var count = 0.0
    private var rows = 0.0

    func probability(usual: Double) -> Double { (usual + count) / (1 + rows) }

    /// - Parameter probability: the probability that the peer jumped between two rows.
    mutating func add(_ probability: Double) {
      let part = min(1, (Self.memory - 1) / max(1, rows))
      (count, rows) = (count * part + probability, rows * part + 1)
    }
  }

  /// Returns the direction for the next row from this row and earlier rows; nil without a phase.
  package func update(
    _ track: inout Track, time: Double, _ phases: [Double?]
  ) -> Direction? {
    let seen = likelihood(phases)
    let seconds = time - track.time
    if seconds > 0, track.belief != nil { track.width.fade(seconds) }
    let kernel = kernel(seconds)
    if kernel.isEmpty { track.sides = nil }
    // A high learned rate of jumps means that the rows are independent.
    var finder = self
    finder.jumps = track.jumps.probability(usual: jumps)
    var belief = [Double](repeating: 1 / Double(azimuths.count), count: azimuths.count)
    if let before = track.belief {
      belief = finder.spread(before, kernel)
      if !kernel.isEmpty { track.jumps.add(finder.jumped(belief, seen)) }
    }
    belief = normalised(belief, seen)
    track.take(belief, time)
    guard let found = direction(belief, seen.elevations, phases) else { return nil }
    var direction = found.direction
    var sides = track.sides ?? DirectionSides(pairs, isCircle: isCircle)
    sides.add(seen.values, peak: bin(of: direction), jumps: finder.jumps)
    track.sides = sides
    direction.limit(odds: sides.odds)
    return widened(direction, found.misfit, &track.width)
  }

  /// Returns the probability that the peer jumped, from the probabilities before a row and its
  /// likelihoods.
  private func jumped(_ belief: [Double], _ seen: Likelihood) -> Double {
    guard !seen.ratios.isEmpty else { return jumps }
    var (anywhere, sum) = (0.0, 0.0)
    for bin in 0..<belief.count {
      anywhere += seen.ratios[bin]
      sum += belief[bin] * seen.ratios[bin]
    }
    return min(1, jumps * anywhere / (Double(belief.count) * sum))
  }

  /// Returns the most likely probability of jumps. It is low if the rows follow a path, and 1 if
  /// they are independent.
  ///
  /// - Parameter seen: The likelihoods of the first rows.
  private func likeliestJumps(
    _ rows: [(time: Double, phases: [Double?])], _ seen: [Likelihood]
  ) -> Double {
    let rows = rows.prefix(seen.count)
    let kernels = zip(rows, rows.dropFirst()).map { kernel($1.time - $0.time) }
    func logLikelihood(_ jumps: Double) -> Double {
      var finder = self
      finder.jumps = jumps
      var belief = [Double](repeating: 1 / Double(azimuths.count), count: azimuths.count)
      var sum = 0.0
      for index in 0..<seen.count {
        if index > 0 { belief = finder.spread(belief, kernels[index - 1]) }
        let ratios = seen[index].ratios
        guard !ratios.isEmpty else { continue }
        var total = 0.0
        for bin in 0..<belief.count {
          belief[bin] *= ratios[bin]
          total += belief[bin]
        }
        guard total > 0 else { return -.infinity }
        for bin in 0..<belief.count { belief[bin] /= total }
        sum += seen[index].most + log(total)
      }
      return sum
    }
    let choices = [jumps, 0.1, 1]
    let scores = choices.map(logLikelihood)
    let best = scores.indices.max { scores[$0] < scores[$1] } ?? 0
    return choices[best]
  }

  private func directions(
    _ rows: ArraySlice<(time: Double, phases: [Double?])>, _ seen: [Likelihood], count: Int,
    _ carried: inout [Double]?, _ width: inout LearnedWidth, _ sides: inout RecordedSides
  ) -> [Direction?] {
    let uniform = [Double](repeating: 1 / Double(azimuths.count), count: azimuths.count)
    let kernels = rows.indices.map { index in
      index == rows.startIndex ? kernel(0.1) : kernel(rows[index].time - rows[index - 1].time)
    }
    // Forward pass.
    var forward: [[Double]] = []
    var belief = carried ?? uniform
    for index in seen.indices {
      if index > 0 || carried != nil { belief = spread(belief, kernels[index]) }
      belief = normalised(belief, seen[index])
      forward.append(belief)
      if index == count - 1 { carried = belief }
    }
    // Backward pass.
    var later = uniform
    var found = [(direction: Direction, misfit: Double?)?](repeating: nil, count: count)
    for index in seen.indices.reversed() {
      if index < count {
        var posterior = forward[index]
        for bin in 0..<posterior.count { posterior[bin] *= later[bin] }
        found[index] = direction(
          posterior, seen[index].elevations, rows[rows.startIndex + index].phases)
      }
      later = spread(normalised(later, seen[index]), kernels[index])
    }
    var continues = true
    for index in found.indices {
      if kernels[index].isEmpty { continues = false }
      guard let direction = found[index]?.direction else { continue }
      sides.add(seen[index].values, peak: bin(of: direction), jumps: continues ? jumps : 1)
      continues = true
    }
    return found.indices.map { index in
      let seconds =
        index == 0
        ? 0
        : rows[rows.startIndex + index].time
          - rows[rows.startIndex + index - 1].time
      if seconds > 0 { width.fade(seconds) }
      return found[index].map { widened($0.direction, $0.misfit, &width) }
    }
  }

  private func bin(of direction: Direction) -> Int {
    let bin = Int(((direction.azimuth - azimuths[0]) * 180 / .pi).rounded())
    return isCircle ? bin % azimuths.count : min(max(0, bin), azimuths.count - 1)
  }

  /// Returns the direction with a deviation that is adapted to the misfits of recent rows.
  private func widened(
    _ direction: Direction, _ misfit: Double?, _ width: inout LearnedWidth
  ) -> Direction {
    if let misfit { width.add(misfit) }
    var result = direction
    result.standardDeviation *= width.factor.squareRoot()
    return result
  }

  /// Returns the probabilities of moving by 0, 1, 2… bins within some seconds. Returns an empty
  /// array if any movement is possible.
  private func kernel(_ seconds: Double) -> [Double] {
    guard seconds >= 0, seconds < 10 else { return [] }
    let deviation = max(0.5, wander * seconds.squareRoot() * 180 / .pi)
    let reach = Int((3 * deviation).rounded(.up))
    guard reach < (isCircle ? azimuths.count / 2 : azimuths.count) else { return [] }
    let values = (0...reach).map {
      exp(-Double($0 * $0) / (2 * deviation * deviation))
    }
    let sum = values[0] + 2 * values.dropFirst().reduce(0, +)
    return values.map { $0 / sum }
  }

  private func spread(_ belief: [Double], _ kernel: [Double]) -> [Double] {
    let count = belief.count
    var total = 0.0
    for bin in 0..<count { total += belief[bin] }
    let floor = total / Double(count)
    // A peer that jumps at each row may be anywhere at the next one.
    guard !kernel.isEmpty, jumps < 1 else { return [Double](repeating: floor, count: count) }
    var result = [Double](repeating: 0, count: count)
    for bin in 0..<count where belief[bin] > 1e-12 * total {
      let here = belief[bin]
      result[bin] += kernel[0] * here
      for step in 1..<max(1, kernel.count) {
        let part = kernel[step] * here
        // The angle wraps around the circle, or is reflected at the ends of a sector.
        let (high, low) = (bin + step, bin - step)
        result[high < count ? high : isCircle ? high - count : 2 * count - 1 - high] += part
        result[low >= 0 ? low : isCircle ? low + count : -1 - low] += part
      }
    }
    for bin in 0..<count { result[bin] = (1 - jumps) * result[bin] + jumps * floor }
    return result
  }

  private func normalised(_ belief: [Double], _ seen: Likelihood) -> [Double] {
    guard !seen.ratios.isEmpty else { return belief }
    var result = belief
    var sum = 0.0
    for bin in 0..<result.count {
      result[bin] *= seen.ratios[bin]
      sum += result[bin]
    }
    guard sum > 0, sum.isFinite else { return belief }
    for bin in 0..<result.count { result[bin] /= sum }
    return result
  }

  /// Returns the mean and the spread of the highest peak, including the error of the models; nil
  /// without a phase. Also returns the misfit of the phases there: the mean of their squared errors
  /// divided by their variances, per degree of freedom. It is nil with one pair.
  private func direction(
    _ posterior: [Double], _ elevations: [Int], _ phases: [Double?]
  ) -> (direction: Direction, misfit: Double?)? {
    let count = posterior.count
    var (total, peak) = (0.0, 0)
    for bin in 0..<count {
      total += posterior[bin]
      if posterior[bin] > posterior[peak] { peak = bin }
    }
    guard phases.contains(where: { $0?.isFinite == true }), total > 0 else { return nil }
    // The peak ends at the minimum before the next peak.
    func bin(_ step: Int) -> Int? {
      let bin = peak + step
      return isCircle ? (bin % count + count) % count : (0..<count ~= bin ? bin : nil)
    }
    var (mass, mean, square, height) = (posterior[peak], 0.0, 0.0, 0.0)
    height += posterior[peak] * self.elevations[elevations[peak]]
    for sign in [1, -1] {
      var before = posterior[peak]
      for step in 1..<min(90, count / 2) {
        guard let index = bin(sign * step) else { break }
        let value = posterior[index]
        if value > before * 1.2 || value < 1e-9 * posterior[peak] { break }
        before = value
        let offset = Double(sign * step)
        mass += value
        mean += value * offset
        square += value * offset * offset
        height += value * self.elevations[elevations[index]]
      }
    }
    mean /= mass
    let degree = Double.pi / 180
    // A bin is a degree wide.
    let variance = (max(0, square / mass - mean * mean) + 1.0 / 12) * degree * degree
    let azimuth = azimuths[peak] + mean * degree
    // The filter has reduced the noise in the spread, but not the error of the models, which all
    // rows share.
    let (model, noise, misfit) = fit(of: phases, azimuth: peak, elevation: elevations[peak])
    let found = Direction(
      azimuth: isCircle ? wrapped(azimuth) : azimuth, elevation: height / mass,
      standardDeviation: (noise * variance + model).squareRoot(), probability: min(1, mass / total))
    return (found, misfit)
  }

  /// Returns the variance of the azimuth from errors of the models, the share of the noise in a
  /// row's variance, and the misfit of the phases.
  private func fit(
    of phases: [Double?], azimuth: Int, elevation: Int
  ) -> (variance: Double, noise: Double, misfit: Double?) {
    let count = azimuths.count
    func row(_ step: Int) -> Int {
      let bin = isCircle ? (azimuth + step + count) % count : min(max(0, azimuth + step), count - 1)
      return (elevation * count + bin) * pairs.count
    }
    let (here, before, after) = (row(0), row(-1), row(1))
    let width = (isCircle || 0 < azimuth && azimuth < count - 1 ? 2 : 1) * Double.pi / 180
    var (information, whole, noise, misfit, freedom) = (0.0, 1e-12, 1e-12, 0.0, -1.0)
    for pair in pairs.indices where pair < phases.count {
      guard let phase = phases[pair], phase.isFinite else { continue }
      let model = pairs[pair].modelDeviation * pairs[pair].modelDeviation
      let slope = (expected[after + pair] - expected[before + pair]) / width
      information += slope * slope / max(1e-12, model)
      let own = pairs[pair].phaseDeviation * pairs[pair].phaseDeviation
      whole += slope * slope / (model + own)
      noise += slope * slope * own / ((model + own) * (model + own))
      let residual = wrapped(phase - expected[here + pair])
      misfit += residual * residual / (model + own)
      freedom += 1
    }
    let most = AngleTracker.mostModelError
    return (
      min(most * most, 1 / max(1e-9, information)), noise / whole,
      freedom > 0 ? misfit / freedom : nil
    )
  }
}

extension DirectionFinder.Direction {
  /// Limits the probability of the direction to the probability that its side is right.
  fileprivate mutating func limit(odds: Double) {
    probability = min(probability, 1 / (1 + exp(-odds)))
  }
}
