// SPDX-License-Identifier: Apache-2.0

/// The places of anchors from the ranges between them.
package struct Survey: Sendable {
  /// The place of an anchor in the plane.
  package struct Place: Sendable, Hashable {
    package var id: String
    package var position: SIMD2<Double>
    package var height: Double
    package var ellipse: PlaceEllipse
    /// The delay of the anchor: half of the common delay, plus its own delay.
    package var delay: Double
    package var delayDeviation: Double
    /// The number of anchors that have a range with this anchor.
    package var ranges: Int
  }

  /// A range after the fit.
  package struct Residual: Sendable, Hashable {
    package var pair: PairRange
    /// The measured distance without delays, less the distance of the places.
    package var excess: Double
    /// The probability that the path was blocked.
    package var blocked: Double
  }

  package var gauge: SurveyGauge
  package var places: [Place]
  package var residuals: [Residual]
  /// The length by which every range is too long.
  package var commonDelay: Double
  package var commonDelayDeviation: Double
  package var ambiguities: [SurveyAmbiguity]
  /// The factor by which the deviations of the ranges were too small; 1 if the ranges agree.
  package var disagreement: Double
  /// Whether the mirror image of all places fits equally well.
  package var hasOpenMirror: Bool
  package var next: [NextMeasurement]
  /// Two anchors whose rough places were probably exchanged.
  package var exchanged: ExchangedLabels?

  /// The pairs whose path was probably blocked.
  package var blocked: [Residual] { residuals.filter { $0.blocked > 0.5 } }
}

/// The reason why places cannot be computed.
package enum SurveyError: Error, Sendable, Hashable, CustomStringConvertible {
  case fewAnchors(Int)
  /// Groups of anchors without a range between them.
  case islands([[String]])
  /// The gauge names an anchor twice.
  case gauge(String)
  case fewRoughPlaces(Int)

  package var description: String {
    switch self {
    case .fewAnchors(let count):
      "a survey takes three anchors with ranges between them, and the table has \(count)"
    case .islands(let groups):
      "no range connects " + groups.map { $0.joined(separator: " ") }.joined(separator: " with ")
        + "; measure at least three ranges between these groups"
    case .gauge(let anchor):
      "\(anchor) has two parts in the gauge; its line goes through two anchors"
    case .fewRoughPlaces(let count):
      "a fit onto rough places takes three of them, and the site has \(count)"
    }
  }
}

extension Survey {
  /// Computes the places.
  ///
  /// - Parameters:
  ///   - ranges: The distances of pairs, with the names of the anchors.
  ///   - anchors: One anchor for each name of `ranges`, in the same order.
  ///   - gauge: The frame of the result. `places` uses rough places of the anchors, of which there
  ///     have to be three; other gauges ignore them.
  package init(
    _ ranges: PairRanges, anchors: [SurveyAnchor], gauge: SurveyGauge = .shape,
    commonDelayDeviation: Double = 0.15
  ) throws(SurveyError) {
    precondition(ranges.names == anchors.map(\.id))
    var model = SurveyModel(anchors: anchors, pairs: ranges.pairs)
    model.commonDelayDeviation = commonDelayDeviation
    if gauge != .places { model.forgetRoughPlaces() }
    try Self.check(model, gauge)
    let measured = Set(
      ranges.pairs.map { [$0.first, $0.second] } + ranges.dropped.map { [$0.first, $0.second] })
    let links = LinkModel(model, measured: measured)
    // Wrong choices of blocked ranges look like disagreement, so the search comes first.
    var search = FoldSearch(model, links: links, start: model.start())
    search.shake()
    let disagreement = model.widenIfNeeded(search.best.state)
    if disagreement > 1 {
      search = FoldSearch(model, links: links, start: search.best.state)
      search.shake()
    }
    search.run()
    search.decide()
    self.init(search, gauge, disagreement)
    exchanged = ExchangedLabels(model)
  }

  private static func check(_ model: SurveyModel, _ gauge: SurveyGauge) throws(SurveyError) {
    guard model.count >= 3 else { throw .fewAnchors(model.count) }
    let rough = model.anchors.count { $0.rough != nil }
    if gauge == .places && rough < 3 { throw .fewRoughPlaces(rough) }
    if case .line(let line) = gauge,
      line.anchor == line.toward || [line.anchor, line.toward].contains(line.side?.anchor)
    {
      throw .gauge(model.anchors[line.anchor].id)
    }
    let islands = model.islands
    if islands.count > 1 && !model.hasRoughPlaces {
      throw .islands(islands.map { $0.map { model.anchors[$0].id } })
    }
  }

  /// States the best shape in the chosen frame.
  private init(_ search: FoldSearch, _ gauge: SurveyGauge, _ disagreement: Double) {
    var model = search.model
    var state = search.best.state
    model.links = search.links.reach(state.positions).map { (search.links, $0) }
    var covariance = SurveyCovariance(model, state)
    covariance.limit(model, state)
    let ambiguities = search.ambiguities()
    for ambiguity in ambiguities { covariance.add(ambiguity, state.positions) }
    // The mean of all shapes between which the ranges do not decide, by their probabilities.
    let near = search.nearShapes()
    var mean = state.positions.map { _ in SIMD2<Double>.zero }
    for shape in near {
      for (index, step) in shape.change.enumerated() { mean[index] += shape.probability * step }
    }
    let rest = near.reduce(1) { $0 - $1.probability }
    covariance.add(mean, probability: rest)
    for shape in near {
      covariance.add(zip(shape.change, mean).map { $0 - $1 }, probability: shape.probability)
    }
    state.positions = zip(state.positions, mean).map { $0 + $1 }
    let motion = gauge.motion(state.positions)
    let positions = state.positions.map(motion.callAsFunction)
    covariance.transform(by: motion.transformation(count: model.count))
    covariance.transform(by: gauge.transformation(positions))
    self.gauge = gauge
    places = Self.places(model, state, positions, covariance)
    residuals = model.pairs.indices.map {
      Residual(
        pair: model.pairs[$0], excess: model.residual($0, state).excess,
        blocked: covariance.blocked[$0])
    }
    commonDelay = state.common
    commonDelayDeviation =
      covariance.unknowns[model.commonIndex, model.commonIndex].squareRoot()
    self.ambiguities = ambiguities.map {
      var ambiguity = $0
      ambiguity.alternative = $0.alternative.map(motion.callAsFunction)
      return ambiguity
    }
    self.disagreement = disagreement
    hasOpenMirror = gauge.leavesMirrorOpen
    next = []
    next = NextMeasurement.ranked(self, model, covariance)
  }

  private static func places(
    _ model: SurveyModel, _ state: SurveyState, _ positions: [SIMD2<Double>],
    _ covariance: SurveyCovariance
  ) -> [Place] {
    let neighbours = model.neighbours
    return model.anchors.enumerated().map { index, anchor in
      let (common, own) = (model.commonIndex, model.commonIndex + 1 + index)
      let unknowns = covariance.unknowns
      let variance =
        unknowns[common, common] / 4 + unknowns[own, own] + unknowns[common, own]
      return Place(
        id: anchor.id, position: positions[index], height: anchor.height,
        ellipse: covariance.ellipse(index), delay: state.common / 2 + state.delays[index],
        delayDeviation: max(variance, 0).squareRoot(), ranges: neighbours[index].count)
    }
  }
}

extension SurveyGauge {
  /// Whether the mirror image of a shape fits equally well in this frame.
  var leavesMirrorOpen: Bool {
    switch self {
    case .shape: true
    case .line(let line): line.side == nil
    case .places: false
    }
  }
}

extension SurveyModel {
  mutating func forgetRoughPlaces() {
    for index in anchors.indices { anchors[index].rough = nil }
  }

  /// Computes a state near the lowest cost, without start values.
  func start() -> SurveyState {
    var positions = hasRoughPlaces && islands.count > 1 ? roughStart() : classicalScaling()
    positions = majorised(positions)
    if hasRoughPlaces { positions = placed(positions) }
    return fit(SurveyState(positions)).state
  }

  /// Moves a shape onto the rough places, with a mirror image if that is needed.
  private func placed(_ positions: [SIMD2<Double>]) -> [SIMD2<Double>] {
    let known = anchors.indices.filter { anchors[$0].rough != nil }
    let motion = RigidMotion.nearest(
      from: known.map { positions[$0] }, to: known.compactMap { anchors[$0].rough?.position },
      weights: known.compactMap { anchors[$0].rough.map { 1 / ($0.deviation * $0.deviation) } })
    return positions.map(motion.callAsFunction)
  }

  /// Returns the rough places; an anchor without a rough place begins at the mean of its
  /// neighbours.
  func roughStart() -> [SIMD2<Double>] {
    let known = anchors.compactMap(\.rough?.position)
    let mean = known.reduce(.zero, +) / Double(max(known.count, 1))
    let neighbours = neighbours
    return anchors.indices.map { index in
      if let rough = anchors[index].rough { return rough.position }
      let near = neighbours[index].compactMap { anchors[$0].rough?.position }
      guard !near.isEmpty else { return mean + SIMD2(0.1, 0.07) * Double(index) }
      return near.reduce(.zero, +) / Double(near.count) + SIMD2(0.1, 0.07)
    }
  }

  /// Raises the deviations of all pairs if that makes the ranges more likely; returns the factor.
  mutating func widenIfNeeded(_ start: SurveyState) -> Double {
    // Each unknown of the shape absorbs one residual, which then gives no evidence.
    let taken = Double(min(2 * count - 3, pairs.count))
    let free = Double(pairs.count) - taken
    var best = (factor: 1.0, surprise: surprise(start) - 16)
    for factor in [2, 3, 4.5, 7, 10, 15, 20] {
      var wide = self
      wide.widen(by: factor)
      let surprise = wide.surprise(wide.fit(start).state) + 2 * free * Math.log(factor)
      if surprise < best.surprise { best = (factor, surprise) }
    }
    widen(by: best.factor)
    return best.factor
  }

  /// Returns the cost of a state, with some ranges on blocked paths.
  private func surprise(_ state: SurveyState) -> Double {
    var model = self
    model.loss = .detours
    return model.cost(state)
  }
}
