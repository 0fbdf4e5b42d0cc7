// SPDX-License-Identifier: Apache-2.0

import UWBSite

/// The places of a course by the engine, against the truth.
struct TrackRun {
  /// Errors in the plane.
  var errors: [Double] = []
  /// Errors along x and y over the stated deviations; heights.
  var multiples: [Double] = []
  var heights: [Double] = []
  /// Errors in units of the ellipse that holds 95 of 100.
  var ellipses: [Double] = []
  /// Errors of height in metres.
  var lifts: [Double] = []
  var stated = 0
  var refused = 0
  var rounds = 0

  mutating func add(_ course: Course) {
    var engine = Engine(
      tags: [Engine.Tag("tag", carrier: course.carrier, height: course.height)],
      anchors: course.anchors.enumerated().map { Engine.Anchor("A\($0)", $1) })
    var truths: [(time: Double, position: SIMD3<Double>?)] = []
    for (measurement, truth) in zip(course.measurements, course.truth) {
      if truths.last?.time != measurement.time { truths.append((measurement.time, truth)) }
      engine.add(measurement, tag: 0)
      drain(&engine, truths, upTo: false)
    }
    drain(&engine, truths, upTo: true)
  }

  /// Compares the places of finished rounds.
  private mutating func drain(
    _ engine: inout Engine, _ truths: [(time: Double, position: SIMD3<Double>?)], upTo isEnd: Bool
  ) {
    engine.drain(isComplete: isEnd) { event in
      switch event {
      case .place(_, let place):
        guard let truth = truths.suffix(3).first(where: { $0.time == place.time })?.position else {
          return
        }
        rounds += 1
        stated += 1
        compare(place, truth)
      case .refused(_, _, let place):
        if truths.suffix(3).contains(where: { $0.time == place.time && $0.position != nil }) {
          rounds += 1
          refused += 1
        }
      default: break
      }
    }
  }

  private mutating func compare(_ place: TagPlace, _ truth: SIMD3<Double>) {
    let error = place.position - truth
    let spread = place.spread
    errors.append(flat(error))
    multiples += [error.x / spread.xx.squareRoot(), error.y / spread.yy.squareRoot()]
    heights.append(error.z / spread.zz.squareRoot())
    lifts.append(error.z)
    let determinant = spread.xx * spread.yy - spread.xy * spread.xy
    let square =
      spread.yy * error.x * error.x - 2 * spread.xy * error.x * error.y
      + spread.xx * error.y * error.y
    // 5.99 is the 95 % quantile for two coordinates.
    ellipses.append((max(0, square / max(determinant, 1e-18)) / 5.991).squareRoot())
  }
}
