// SPDX-License-Identifier: Apache-2.0

/// Textbook methods of a survey, for comparison.
package enum TextbookSurvey {
  /// Classical scaling of shortest paths.
  package static func classicalScaling(
    _ anchors: [SurveyAnchor], _ ranges: PairRanges
  ) -> [SIMD2<Double>] {
    model(anchors, ranges).classicalScaling()
  }

  /// Least squares of all ranges, without delays, from classical scaling.
  package static func leastSquares(
    _ anchors: [SurveyAnchor], _ ranges: PairRanges
  ) -> [SIMD2<Double>] {
    let model = model(anchors, ranges)
    return model.fit(SurveyState(model.majorised(model.classicalScaling()))).state.positions
  }

  private static func model(
    _ anchors: [SurveyAnchor], _ ranges: PairRanges
  ) -> SurveyModel {
    var model = SurveyModel(anchors: anchors, pairs: ranges.pairs)
    model.loss = .squares
    model.commonDelayDeviation = 0
    model.hasOwnDelays = false
    model.forgetRoughPlaces()
    return model
  }
}
