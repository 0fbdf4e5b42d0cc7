// SPDX-License-Identifier: Apache-2.0

/// A distance that is worth measuring next, by boards or with a tape.
package struct NextMeasurement: Sendable, Hashable {
  package enum Gain: Sendable, Hashable {
    /// The distances in the two shapes differ by this value.
    case decides(difference: Double)
    /// The largest deviation of any place, before and after.
    case improves(from: Double, to: Double)
  }

  package var first: Int
  package var second: Int
  package var distance: Double
  package var gain: Gain

  /// The expected standard deviation of a further measurement.
  static let deviation = 0.05

  /// Returns measurements that resolve ambiguities, and then the most informative measurement.
  static func ranked(
    _ survey: Survey, _ model: SurveyModel, _ covariance: SurveyCovariance
  ) -> [NextMeasurement] {
    var result: [NextMeasurement] = []
    for ambiguity in survey.ambiguities {
      guard let found = deciding(ambiguity, survey) else { continue }
      if !result.contains(where: { $0.first == found.first && $0.second == found.second }) {
        result.append(found)
      }
    }
    if let best = improving(survey, covariance) { result.append(best) }
    return result
  }

  /// Returns the pair whose distance differs most between two shapes.
  private static func deciding(_ ambiguity: SurveyAmbiguity, _ survey: Survey) -> NextMeasurement? {
    guard !ambiguity.alternative.isEmpty else { return nil }
    let measured = Set(survey.residuals.map { [$0.pair.first, $0.pair.second] })
    var best: NextMeasurement?
    var most = 0.3
    for (i, j) in pairs(survey) where !measured.contains([i, j]) {
      let here = (survey.places[i].position - survey.places[j].position).length
      let there = (ambiguity.alternative[i] - ambiguity.alternative[j]).length
      // A short distance is worth more, because it is easier to measure.
      let worth = abs(here - there) / (1 + min(here, there) / 10)
      guard worth > most else { continue }
      most = worth
      best = NextMeasurement(
        first: i, second: j, distance: here, gain: .decides(difference: abs(here - there)))
    }
    return best
  }

  /// Returns the pair whose measurement reduces the largest deviation of a place most.
  private static func improving(
    _ survey: Survey, _ covariance: SurveyCovariance
  ) -> NextMeasurement? {
    let before = survey.places.map(\.ellipse.axes.major).max() ?? 0
    var best: NextMeasurement?
    var least = 0.8 * before
    for (i, j) in pairs(survey) {
      let after = largest(survey, covariance, i, j)
      guard after < least else { continue }
      least = after
      best = NextMeasurement(
        first: i, second: j,
        distance: (survey.places[i].position - survey.places[j].position).length,
        gain: .improves(from: before, to: after))
    }
    return best
  }

  private static func pairs(_ survey: Survey) -> [(Int, Int)] {
    survey.places.indices.flatMap { i in
      ((i + 1)..<max(survey.places.count, i + 1)).map { (i, $0) }
    }
  }

  /// Returns the largest deviation of any place after a measurement of a pair.
  private static func largest(
    _ survey: Survey, _ covariance: SurveyCovariance, _ i: Int, _ j: Int
  ) -> Double {
    let difference = survey.places[i].position - survey.places[j].position
    let unit = difference / max(difference.length, 1e-9)
    let matrix = covariance.places
    let influence = (0..<matrix.rows).map { row in
      unit.x * (matrix[row, 2 * i] - matrix[row, 2 * j])
        + unit.y * (matrix[row, 2 * i + 1] - matrix[row, 2 * j + 1])
    }
    let variance =
      unit.x * (influence[2 * i] - influence[2 * j])
      + unit.y * (influence[2 * i + 1] - influence[2 * j + 1])
    let scale = 1 / (variance + deviation * deviation)
    return survey.places.indices.map { index in
      var ellipse = survey.places[index].ellipse
      let change = SIMD2(influence[2 * index], influence[2 * index + 1])
      ellipse.xx -= scale * change.x * change.x
      ellipse.xy -= scale * change.x * change.y
      ellipse.yy -= scale * change.y * change.y
      return ellipse.axes.major
    }.max() ?? 0
  }
}
