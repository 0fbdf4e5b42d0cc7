// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// A made-up site with its true places and the ranges that its anchors would measure.
package struct SimulatedSurvey: Sendable {
  /// The errors of the ranges.
  package struct Errors: Sendable, Hashable {
    package var deviation = 0.05
    package var commonDelay = 0.2
    package var ownDelayDeviation = 0.05
    /// The share of pairs with a blocked path.
    package var blockedShare = 0.1
    /// The lengths of detours on blocked paths in metres.
    package var detours = 0.3...1.5

    package init() {}

    /// Errors that are normal noise only.
    package static var clean: Errors {
      var errors = Errors()
      (errors.commonDelay, errors.ownDelayDeviation, errors.blockedShare) = (0, 0, 0)
      return errors
    }
  }

  package var positions: [SIMD2<Double>]
  package var anchors: [SurveyAnchor]
  package var ranges: PairRanges
  /// Whether each pair of `ranges` has a blocked path.
  package var isBlocked: [Bool]

  /// Places anchors at random in an area of 20 × 15 m, at heights from 2.2 to 3.2 m.
  ///
  /// - Parameter share: The share of pairs that are measured; these are the nearest pairs.
  package init(
    count: Int, errors: Errors = Errors(), share: Double = 1, random: inout SeededNormal
  ) {
    let positions = (0..<count).map { _ in SIMD2(20 * random.uniform(), 15 * random.uniform()) }
    let anchors = (0..<count).map {
      SurveyAnchor("A\($0)", height: 2.2 + random.uniform(), heightDeviation: 0.01)
    }
    self.init(positions, anchors, errors, share, &random)
  }

  /// Measures the ranges between anchors at given places.
  package init(
    _ positions: [SIMD2<Double>], _ anchors: [SurveyAnchor], _ errors: Errors = Errors(),
    _ share: Double = 1, _ random: inout SeededNormal
  ) {
    (self.positions, self.anchors) = (positions, anchors)
    let delays = positions.map { _ in errors.ownDelayDeviation * random.next() }
    var measured: [(pair: PairRange, isBlocked: Bool, length: Double)] = []
    for i in positions.indices {
      for j in (i + 1)..<max(positions.count, i + 1) {
        let rise = anchors[i].height - anchors[j].height
        let flat = positions[i] - positions[j]
        let length = ((flat * flat).sum() + rise * rise).squareRoot()
        let isBlocked = random.uniform() < errors.blockedShare
        let (low, high) = (errors.detours.lowerBound, errors.detours.upperBound)
        let detour = low + (high - low) * random.uniform()
        let error =
          errors.deviation * random.next() + errors.commonDelay + delays[i] + delays[j]
          + (isBlocked ? detour : 0)
        let pair = PairRange(
          first: i, second: j, distance: max(length + error, 0.01),
          deviation: max(errors.deviation, 0.01), count: 50)
        measured.append((pair, isBlocked, length))
      }
    }
    let longest = measured.map(\.length).sorted()
    let kept = Int((share * Double(measured.count)).rounded())
    let reach = kept > 0 && kept <= longest.count ? longest[kept - 1] : 0
    measured.removeAll { $0.length > reach }
    ranges = PairRanges(names: anchors.map(\.id), pairs: measured.map(\.pair))
    isBlocked = measured.map(\.isBlocked)
  }

  /// Whether ranges connect all anchors.
  package var isConnected: Bool {
    var reached: Set = [0]
    for _ in anchors {
      for pair in ranges.pairs where reached.contains(pair.first) != reached.contains(pair.second) {
        reached.formUnion([pair.first, pair.second])
      }
    }
    return reached.count == anchors.count
  }

  /// Adds rough places that are wrong by up to `error` in x and in y.
  package mutating func addRoughPlaces(error: Double, _ random: inout SeededNormal) {
    for index in anchors.indices {
      let offset = SIMD2(2 * random.uniform() - 1, 2 * random.uniform() - 1) * error
      // The deviation of an error that is equally likely everywhere within its limits.
      anchors[index].rough = .init(
        positions[index] + offset, deviation: error / 3.0.squareRoot())
    }
  }

  /// Returns the error of each place after the best motion onto the true places.
  package func errors(of places: [SIMD2<Double>]) -> [SIMD2<Double>] {
    let motion = RigidMotion.nearest(from: places, to: positions)
    return zip(places, positions).map { motion($0) - $1 }
  }

  /// Returns the error of each place, and its square in standard deviations of its ellipse.
  package func scores(
    of places: [Survey.Place]
  ) -> [(error: Double, squaredDeviations: Double)] {
    Self.scores(of: places.map { ($0.position, $0.ellipse) }, truth: positions)
  }

  /// Returns the errors in the frame of the true places.
  package func ownScores(
    of places: [Survey.Place]
  ) -> [(error: Double, squaredDeviations: Double)] {
    zip(places, positions).map { place, truth in
      let error = place.position - truth
      return ((error * error).sum().squareRoot(), place.ellipse.squaredDeviations(error))
    }
  }

  /// Returns the errors after the best motion onto the true places.
  package static func scores(
    of places: [(position: SIMD2<Double>, ellipse: PlaceEllipse)], truth: [SIMD2<Double>]
  ) -> [(error: Double, squaredDeviations: Double)] {
    let motion = RigidMotion.nearest(from: places.map(\.position), to: truth)
    return zip(places, truth).map { place, truth in
      let error = motion(place.position) - truth
      // The error is turned back into the frame of the ellipse.
      let back = SIMD2(
        motion.cosine * error.x + motion.sine * error.y,
        motion.cosine * error.y - motion.sine * error.x)
      let own = motion.isMirrored ? SIMD2(back.x, -back.y) : back
      return ((error * error).sum().squareRoot(), place.ellipse.squaredDeviations(own))
    }
  }
}
