// SPDX-License-Identifier: Apache-2.0

/// The places of anchors from a walk with a rig of tags. The anchors need no ranges to one another.
package struct WalkSurvey: Sendable {
  package struct Place: Sendable, Hashable {
    package var id: String
    package var position: SIMD2<Double>
    package var height: Double
    package var ellipse: PlaceEllipse
    package var ranges: Int
  }

  package var places: [Place]
  /// The number of places of the rig that were used.
  package var poses: Int
  /// The extra cost of the mirror image; a large value means that the handedness is certain.
  package var mirrorCost: Double
  /// The root mean square of the residuals in metres.
  package var residual: Double
}

package enum WalkSurveyError: Error, Sendable, Hashable, CustomStringConvertible {
  case rig(tags: Int, width: Double)
  case fewPlaces(Int)
  case line

  package var description: String {
    switch self {
    case .rig(let tags, let width):
      "a rig has three tags that are not on a line; these \(tags) lie within "
        + "\((width * 100).rounded() / 100) m of one"
    case .fewPlaces(let count):
      "at \(count) places of the rig, all tags have ranges to the same three anchors; "
        + "20 are needed: walk where more anchors are in range"
    case .line:
      "the path or the anchors lie on a line; walk through the whole area"
    }
  }
}

extension WalkSurvey {
  /// Computes the places, in a frame along the longest extent of the anchors.
  ///
  /// - Parameters:
  ///   - delay: The length by which the ranges are too long. A walk cannot determine it.
  ///   - heights: The height of each anchor by name.
  package init(
    _ readings: [WalkReading], rig: WalkRig, delay: Double, delayDeviation: Double = 0.03,
    heights: [String: Double], poses most: Int = 200, gauge: SurveyGauge = .shape
  ) throws(WalkSurveyError) {
    guard rig.tags.count >= 3, rig.width > 0.05 else {
      throw .rig(tags: rig.tags.count, width: rig.width)
    }
    let ranges = WalkRanges(readings, rig: rig, delay: delay, most: most)
    var model = Self.model(ranges, rig, heights)
    model.delayDeviation = delayDeviation
    let starts = try Self.starts(&model)
    let fits = starts.map { model.fit($0) }.sorted { $0.cost < $1.cost }
    let names = ranges.anchors.enumerated().map { ($1, heights[$1] ?? rig.height) }
    model.independence = model.independentShare(fits[0].state)
    self.init(model, model.fit(fits[0].state).state, names, gauge)
    mirrorCost = (fits.dropFirst().first?.cost ?? .infinity) - fits[0].cost
  }

  /// Returns the anchors of a walk, in the order of their first ranges to the rig.
  package static func anchors(_ readings: [WalkReading], _ rig: WalkRig) -> [String] {
    WalkRanges(readings, rig: rig, delay: 0, most: 1).anchors
  }

  private static func model(
    _ ranges: WalkRanges, _ rig: WalkRig, _ heights: [String: Double]
  ) -> WalkModel {
    let rises = ranges.anchors.flatMap { name in
      rig.tags.map { tag in
        let rise = (heights[name] ?? rig.height) - tag.position.z
        return rise * rise
      }
    }
    return WalkModel(
      poses: ranges.poses, offsets: rig.offsets, count: ranges.anchors.count, rises: rises)
  }

  // MARK: starts

  /// Returns starts of both handednesses. Removes poses without enough anchors from the model.
  private static func starts(_ model: inout WalkModel) throws(WalkSurveyError) -> [WalkState] {
    let core = try core(model)
    let complete = model.poses.filter { pose in
      core.allSatisfy { pose.meanSquare($0, tags: model.tags) != nil }
    }
    let own = model.offsets.reduce(0) { $0 + $1.lengthSquared } / Double(model.tags)
    let squares = complete.map { pose in
      core.map { anchor in
        let rises = (0..<model.tags).reduce(0) { $0 + model.rises[anchor * model.tags + $1] }
        return (pose.meanSquare(anchor, tags: model.tags) ?? 0) - own - rises / Double(model.tags)
      }
    }
    guard let start = WalkStart(squares: squares) else { throw .line }
    model.poses = complete
    let offsets = model.offsets
    let whole = model
    return [start, start.mirrored].map { one in
      var one = one
      one.findHeadings(complete, offsets: offsets, core: core)
      return Self.state(one, core, whole)
    }
  }

  /// Returns the anchors that are in range together at enough places.
  private static func core(_ model: WalkModel) throws(WalkSurveyError) -> [Int] {
    var core = Array(0..<model.count)
    func complete() -> Int {
      model.poses.count { pose in
        core.allSatisfy { pose.meanSquare($0, tags: model.tags) != nil }
      }
    }
    while complete() < 20 {
      guard core.count > 3 else { throw .fewPlaces(core.count == 3 ? complete() : 0) }
      let uses = core.map { anchor in
        model.poses.count { $0.meanSquare(anchor, tags: model.tags) != nil }
      }
      let least = uses.indices.min { uses[$0] < uses[$1] } ?? 0
      core.remove(at: least)
    }
    guard core.count >= 3 else { throw .fewPlaces(0) }
    return core
  }

  /// Returns a state of all anchors. The remaining anchors are located from the places of the rig.
  private static func state(_ start: WalkStart, _ core: [Int], _ model: WalkModel) -> WalkState {
    let middle = start.anchors.reduce(.zero, +) / Double(start.anchors.count)
    var anchors = Array(repeating: middle, count: model.count)
    for (index, anchor) in core.enumerated() { anchors[anchor] = start.anchors[index] }
    for anchor in 0..<model.count where !core.contains(anchor) {
      anchors[anchor] = located(anchor, start.places, model) ?? middle
    }
    return WalkState(
      anchors: anchors, errors: Array(repeating: 0, count: model.count * model.tags),
      places: start.places, headings: start.headings)
  }

  /// Returns the place of an anchor by linear least squares from the places of the rig.
  private static func located(
    _ anchor: Int, _ places: [SIMD2<Double>], _ model: WalkModel
  ) -> SIMD2<Double>? {
    var (terms, values): ([[Double]], [Double]) = ([], [])
    for (pose, place) in zip(model.poses, places) {
      guard let square = pose.meanSquare(anchor, tags: model.tags) else { continue }
      terms.append([-2 * place.x, -2 * place.y, 1])
      values.append(square - place.lengthSquared)
    }
    guard terms.count >= 3, let x = WalkStart.leastSquares(terms, values) else { return nil }
    return SIMD2(x[0], x[1])
  }

  // MARK: result

  private init(
    _ model: WalkModel, _ state: WalkState, _ names: [(id: String, height: Double)],
    _ gauge: SurveyGauge
  ) {
    let motion = gauge.motion(state.anchors)
    let positions = state.anchors.map(motion.callAsFunction)
    let turn = motion.transformation(count: model.count)
    let transformation = gauge.transformation(positions)
    var covariance = Self.covariance(model, state)
    covariance = turn * covariance * turn.transposed
    covariance = transformation * covariance * transformation.transposed
    places = names.enumerated().map { index, anchor in
      Place(
        id: anchor.id, position: positions[index], height: anchor.height,
        ellipse: PlaceEllipse(
          xx: covariance[2 * index, 2 * index], xy: covariance[2 * index, 2 * index + 1],
          yy: covariance[2 * index + 1, 2 * index + 1]),
        ranges: model.poses.reduce(0) { sum, pose in
          sum + pose.ranges.count { $0.anchor == index }
        })
    }
    poses = model.poses.count
    mirrorCost = 0
    residual = model.rootMeanSquare(state)
  }

  /// Returns the covariance of the anchors under inner constraints.
  private static func covariance(_ model: WalkModel, _ state: WalkState) -> Matrix {
    let size = 2 * model.count
    guard var reduced = model.reduced(model.equations(state), damping: 0)?.matrix else {
      return Matrix(diagonal: Array(repeating: 1e6, count: size))
    }
    let gauge = SurveyCovariance.gauge(state.anchors, size: model.globals)
    SurveyCovariance.add(gauge, 1e6, to: &reduced)
    let inverse =
      Cholesky(reduced)?.inverse ?? Matrix(diagonal: Array(repeating: 1e6, count: model.globals))
    var constrained = inverse
    SurveyCovariance.constrain(&constrained, gauge)
    return SurveyCovariance.block(constrained, size)
  }
}

extension WalkModel {
  /// Returns the share of ranges that count as independent.
  ///
  /// Consecutive ranges resemble one another. So do ranges in the same area, even on later visits,
  /// because the reflections are the same.
  fileprivate func independentShare(_ state: WalkState) -> Double {
    min(1 / correlated(state), areas(state.places) / Double(max(poses.count, 1)))
  }

  /// Returns the number of visited rectangles, of 16 that cover the area.
  private func areas(_ places: [SIMD2<Double>]) -> Double {
    let (xs, ys) = (places.map(\.x), places.map(\.y))
    func part(_ value: Double, _ all: (low: Double, high: Double)) -> Int {
      min(3, Int(4 * (value - all.low) / max(all.high - all.low, 1e-9)))
    }
    let width = (xs.min() ?? 0, xs.max() ?? 0)
    let depth = (ys.min() ?? 0, ys.max() ?? 0)
    return Double(Set(places.map { 4 * part($0.x, width) + part($0.y, depth) }).count)
  }
}

extension WalkRig {
  /// The mean height of the tags.
  var height: Double {
    tags.reduce(0) { $0 + $1.position.z } / Double(max(tags.count, 1))
  }
}

extension WalkModel {
  func rootMeanSquare(_ state: WalkState) -> Double {
    var (sum, count) = (0.0, 0)
    for (index, pose) in poses.enumerated() {
      for range in pose.ranges {
        let excess = residual(range, index, state).excess
        sum += excess * excess
        count += 1
      }
    }
    return (sum / Double(max(count, 1))).squareRoot()
  }
}
