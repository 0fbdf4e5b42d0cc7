// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Ranging

/// The probability that directions are on the right side, if directions on another side have
/// similar phases.
///
/// Rows in nearly the same direction share the error of the models. Together, they have at most the
/// information of one row without noise. Directions before and after add information if the peer
/// moved between them without a jump.
struct DirectionSides: Sendable {
  /// Consecutive rows with nearly equal phases. The log-odds refer to the side of the first row.
  fileprivate struct Stay: Sendable {
    /// The log-odds from earlier rows.
    var before = 0.0
    var sum = 0.0
    var count = 0.0
    /// 1 if the last row is on the side of the first row, otherwise -1.
    var side = 1.0
    /// The limit of the log-odds that this stay and the previous one add to each other; 0 after a
    /// jump.
    var most = 0.0
  }

  /// The difference in degrees beyond which the errors of the models are independent.
  private static let reach = 20
  /// The difference in degrees beyond which a direction is on another side.
  private static let otherSide = 30
  /// The limit of the log-odds of a single row, because wrong phases do not follow the model.
  private static let most = 8.0
  /// The probability of jumps above which rows count as independent.
  private static let apart = 0.3

  /// The ratio of the variance of the models' error to the variance of the noise.
  private let share: Double
  private let isCircle: Bool
  fileprivate private(set) var stay = Stay()
  private var start: Int?
  private var peak = 0

  init(_ pairs: [AntennaPair], isCircle: Bool) {
    let noise = pairs.reduce(0) { $0 + $1.phaseDeviation * $1.phaseDeviation }
    let model = pairs.reduce(0) { $0 + $1.modelDeviation * $1.modelDeviation }
    (share, self.isCircle) = (model / max(1e-12, noise), isCircle)
  }

  /// The log-odds that the last row is on the right side, from all rows so far.
  var odds: Double { stay.side * (stay.before + own(stay)) }

  /// Returns the log-odds from the rows of a stay alone.
  fileprivate func own(_ stay: Stay) -> Double {
    // The mean of n rows has the variance of the noise divided by n, plus the shared error.
    stay.sum / stay.count * (1 + share) / (1 / stay.count + share)
  }

  fileprivate static func limited(_ odds: Double, _ most: Double = most) -> Double {
    max(-most, min(most, odds))
  }

  /// Adds a row with its log-likelihoods and its likeliest direction.
  ///
  /// - Parameter jumps: the probability that the peer jumped; 1 if it may be anywhere after the
  ///   time since the previous row.
  mutating func add(_ values: [Double], peak: Int, jumps: Double) {
    let count = values.count
    func distance(_ a: Int, _ b: Int) -> Int {
      let plain = a > b ? a - b : b - a
      return isCircle && count - plain < plain ? count - plain : plain
    }
    var (here, there, atStart) = (-Double.infinity, -Double.infinity, -Double.infinity)
    for bin in 0..<count {
      let value = values[bin]
      if distance(bin, peak) <= Self.otherSide {
        if value > here { here = value }
      } else if value > there {
        there = value
      }
      if let start, value > atStart, distance(bin, start) <= Self.reach { atStart = value }
    }
    // A jump may lead to either side, so it limits the odds.
    let most = min(Self.most, log((2 - jumps) / jumps))
    let continues = jumps < Self.apart
    let isNear = continues && start != nil && distance(peak, self.peak) <= Self.otherSide
    // Impossible phases have the likelihood 0 in all directions.
    let difference = here == there ? 0 : Self.limited(here - there)
    if continues, atStart >= max(here, there) - Self.most {
      if !isNear { stay.side = -stay.side }
    } else {
      let most = isNear ? most : 0
      stay = Stay(before: Self.limited(odds, most), most: most)
      start = peak
    }
    stay.sum += stay.side * difference
    stay.count += 1
    self.peak = peak
  }
}

/// The log-odds of sides in a recording, from earlier and later rows.
struct RecordedSides {
  private var sides: DirectionSides
  private var stays: [DirectionSides.Stay] = []
  private var rows: [(stay: Int, side: Double)] = []

  init(_ sides: DirectionSides) { self.sides = sides }

  /// Adds a row; see `DirectionSides.add`.
  mutating func add(_ values: [Double], peak: Int, jumps: Double) {
    sides.add(values, peak: peak, jumps: jumps)
    if !stays.isEmpty, sides.stay.count > 1 { stays.removeLast() }
    stays.append(sides.stay)
    rows.append((stays.count - 1, sides.stay.side))
  }

  /// The log-odds that each row is on the right side.
  var odds: [Double] {
    var after = [Double](repeating: 0, count: stays.count)
    for (index, next) in stays.enumerated().dropFirst().reversed() {
      after[index - 1] =
        stays[index - 1].side
        * DirectionSides.limited(sides.own(next) + after[index], next.most)
    }
    return rows.map { row in
      row.side * (stays[row.stay].before + sides.own(stays[row.stay]) + after[row.stay])
    }
  }
}
