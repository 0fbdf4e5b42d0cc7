// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import RangingScenes

/// Figures of a trolley among eight anchors indoors: F2, L1, L2 and M1.
enum TrolleyFigures {
  static func rows(_ recordings: Recordings) -> [AccuracyFigure] {
    guard let lias = Lias(recordings) else { return [] }
    return filtered(lias) + found(lias) + located(lias)
  }

  /// Measures each of the 24 ranges, filtered after the subtraction of its constant error at known
  /// positions.
  private static func filtered(_ lias: Lias) -> [AccuracyFigure] {
    var (raw, recorded, live, slow, slowLive) = (Errors(), Errors(), Errors(), Errors(), Errors())
    var median = Errors()
    var honest = Array(repeating: Honesty(), count: 4)
    for index in 0..<24 {
      var samples: [RangeSample] = []
      var truth: [Double] = []
      for epoch in lias.epochs where epoch.ranges[index].isFinite {
        samples.append(
          RangeSample(time: epoch.time, distance: epoch.ranges[index] - lias.biases[index]))
        truth.append(lias.truth(index, at: epoch.time))
      }
      func errors(_ found: [Double], _ truth: [Double]) -> [Double] {
        zip(found, truth).map { $0 - $1 }
      }
      let tenth = stride(from: 0, to: samples.count, by: 10).map { samples[$0] }
      let known = stride(from: 0, to: samples.count, by: 10).map { truth[$0] }
      raw.add(errors(samples.map(\.distance), truth))
      median.add(errors(medians(tenth.map(\.distance)), known))
      let ways: [(found: [RangeEstimate?], truth: [Double])] = [
        (RangeSmoother().smoothed(samples), truth), (FilterFigures.asTheyCome(samples), truth),
        (RangeSmoother().smoothed(tenth), known), (FilterFigures.asTheyCome(tenth), known),
      ]
      for (index, way) in ways.enumerated() {
        honest[index].add(FilterFigures.stated(way.found, way.truth))
      }
      let rests = ways.map { way in errors(way.found.map { $0?.distance ?? 1e3 }, way.truth) }
      recorded.add(rests[0])
      live.add(rests[1])
      slow.add(rests[2])
      slowLive.add(rests[3])
    }
    let plain = ("raw", Errors.rms(raw.all) * 100)
    // This is the best textbook filter without later ranges. The aim for recordings is below the
    // error that changes within seconds, because later ranges reveal that error.
    let usual = ("median of three at 10 Hz", Errors.rms(median.all) * 100)
    let names = [
      "lias: ranges recorded at 100 Hz", "100 Hz live", "recorded at 10 Hz",
      "10 Hz live",
    ]
    return zip(names, [recorded, live, slow, slowLive]).map { name, errors in
      let isLive = name.hasSuffix("live")
      return errors.figure(
        "F2", name + ", RMSE", "cm", scale: 100, textbook: isLive ? usual : plain,
        aim: .atMost(isLive ? 6.9 : 6.3), Errors.rms)
    } + zip(names, honest).flatMap { $1.figures("F2", $0) }
  }

  /// Returns the median of each value and the two values before it.
  private static func medians(_ values: [Double]) -> [Double] {
    values.indices.map { index in
      let last = values[max(0, index - 2)...index].sorted()
      return last[last.count / 2]
    }
  }

  /// Measures walks of 5 m with each anchor in turn as the target, and drifts of 1 % and 1 degree a
  /// minute.
  private static func found(_ lias: Lias) -> [AccuracyFigure] {
    var result: [AccuracyFigure] = []
    // The ranges are corrected by the biases at nine positions.
    var parameters = TargetFinder.Parameters()
    parameters.biasDeviation = RangingCalibration.biasDeviation(positions: 9)
    for hasAzimuth in [false, true] {
      var (errors, ungated) = (Errors(), Errors())
      var (converged, walks) = (0.0, 0.0)
      var honest = Honesty()
      for target in 0..<8 {
        var (part, all, stated): ([Double], [Double], [Double]) = ([], [], [])
        for start in stride(from: 0, to: 60, by: 3.0) {
          let walk = TrolleyWalk(
            lias, target: target, tag: 1, from: start, seed: UInt64(target * 100) + UInt64(start),
            azimuths: hasAzimuth)
          var finder = TargetFinder(parameters)
          for (sighting, azimuth) in zip(walk.sightings, walk.truth) {
            guard let estimate = finder.update(sighting), estimate.isConverged else { continue }
            let error = wrap(estimate.horizontalAngle - azimuth)
            part.append(abs(error) / degree)
            stated.append(error / estimate.angleDeviation)
          }
          guard let last = finder.estimate, let azimuth = walk.truth.last else { continue }
          walks += 1
          converged += last.isConverged ? 1 : 0
          all.append(abs(wrap(last.horizontalAngle - azimuth)) / degree)
        }
        errors.add(part)
        honest.add(stated)
        ungated.add(all)
      }
      let name = hasAzimuth ? "with azimuths of 6 deg" : "ranges only"
      result.append(
        errors.figure(
          "L1", "lias: bearing of a target, \(name), 95 % when converged", "deg",
          textbook: ("all after 5 m", quantile(ungated.all, 0.95)), aim: .atMost(5)
        ) { quantile($0, 0.95) })
      result.append(
        AccuracyFigure(
          id: "L2", quantity: "converged after 5 m, \(name)", unit: "", textbook: nil,
          value: converged / max(1, walks), parts: [],
          aim: .atLeast(hasAzimuth ? 0.96 : 0.87)))
      result += honest.figures("L1", "lias: bearing, \(name)")
      result.append(honest.ratio("L1", "lias: bearing, \(name), over angle_sigma, RMS"))
    }
    return result
  }

  /// Measures each tag among the eight anchors at 10 Hz.
  private static func located(_ lias: Lias) -> [AccuracyFigure] {
    let (tracks, single) = tracks(lias)
    let found = PositionFigures(tracks)
    let plain = ("least squares", Errors.rms(single.all) * 100)
    let worst = ("least squares", (single.all.max() ?? 0) * 100)
    var result: [AccuracyFigure] = []
    for (name, errors) in [("recorded", found.recorded), ("live", found.live)] {
      result.append(
        errors.figure(
          "M1", "lias: position, eight anchors, \(name), RMSE", "cm", scale: 100, textbook: plain,
          aim: .atMost(7.3), Errors.rms))
      result.append(
        errors.figure(
          "M1", "the same, greatest error", "cm", scale: 100, textbook: worst, aim: .atMost(21)
        ) { $0.max() ?? .infinity })
    }
    // These are all measurements. Measurements within a tenth of a second have nearly the same
    // error.
    let all = PositionFigures(Self.tracks(lias, step: 1).0, isCompared: false)
    return result + found.figures("M1", "lias") + all.figures("M1", "lias at 100 Hz")
  }

  /// Returns the tracks of the three tags with every tenth epoch (10 Hz). Also returns the errors
  /// of a plain solution for each epoch.
  static func tracks(_ lias: Lias, step: Int = 10) -> ([PositionFigures.Track], Errors) {
    var single = Errors()
    var tracks: [PositionFigures.Track] = []
    for tag in 0..<3 {
      var samples: [PositionSample] = []
      var singles: [Double] = []
      let solver = PositionSolver(height: HeightPrior(0.97, standardDeviation: 0.02))
      for index in stride(from: 0, to: lias.epochs.count, by: step) {
        let epoch = lias.epochs[index]
        var observations: [PositionObservation] = []
        for anchor in 0..<8 where epoch.ranges[3 * anchor + tag].isFinite {
          let range = epoch.ranges[3 * anchor + tag] - lias.biases[3 * anchor + tag]
          observations.append(PositionObservation(.range(Lias.anchors[anchor]), range))
          samples.append(
            PositionSample(time: epoch.time, observation: observations.last!, source: anchor))
        }
        var plain = solver
        plain.tailFreedom = 1e9
        if let found = plain.solve(observations) {
          singles.append(flat(found.position - lias.position(ofTag: tag, at: epoch.time)))
        }
      }
      single.add(singles)
      tracks.append(
        .init(
          samples: samples,
          truth: samples.map { lias.position(ofTag: tag, at: $0.time) }, height: 0.97))
    }
    return (tracks, single)
  }

  /// Returns the errors along x and y as multiples of the stated deviations.
  static func stated(_ estimate: PositionEstimate?, _ truth: SIMD3<Double>) -> [Double] {
    guard let estimate else { return [] }
    let error = estimate.position - truth
    return [
      error.x / estimate.covariance.xx.squareRoot(), error.y / estimate.covariance.yy.squareRoot(),
    ]
  }

  static func flat(_ v: SIMD3<Double>) -> Double { (v.x * v.x + v.y * v.y).squareRoot() }
}

/// Sightings of an anchor along 5 m of the trolley's path, from a device whose own tracking drifts.
struct TrolleyWalk {
  var sightings: [TargetSighting] = []
  /// The true azimuth of the target, relative to the device's true orientation.
  var truth: [Double] = []

  init(
    _ lias: Lias, target: Int, tag: Int, from start: Double, seed: UInt64, azimuths: Bool,
    length: Double = 5, isCorrected: Bool = true
  ) {
    var noise = Noise(seed: seed)
    let stretch = noise.uniform() < 0.5 ? 1.01 : 0.99
    let turn = (noise.uniform() < 0.5 ? 1 : -1) * degree / 60
    let index = 3 * target + tag
    var way = 0.0
    var begun: Double?
    var own = SIMD3<Double>.zero
    var last = SIMD3<Double>.zero
    for number in stride(from: 0, to: lias.epochs.count, by: 10) {
      let epoch = lias.epochs[number]
      let position = lias.position(ofTag: tag, at: epoch.time)
      let before = way
      if number > 0 { way += (position - last).length }
      let step = position - last
      last = position
      guard before >= start else { continue }
      if way > start + length { break }
      let pose = lias.pose(at: epoch.time)
      let from = begun ?? epoch.time
      if begun == nil { own = position }
      if begun != nil {
        let bend = turn * (epoch.time - from)
        own =
          own
          + SIMD3<Double>(
            cosine(bend) * step.x - sine(bend) * step.y,
            sine(bend) * step.x + cosine(bend) * step.y, step.z) * stretch
      }
      begun = from
      let bend = turn * (epoch.time - from) / 2
      // In the product of quaternions, the drift is the left factor, because it turns the device's
      // frame in the world.
      let (c, s) = (cosine(bend), sine(bend))
      let drifted = Pose(
        position: own, w: c * pose.w - s * pose.z, x: c * pose.x - s * pose.y,
        y: c * pose.y + s * pose.x, z: c * pose.z + s * pose.w)
      guard epoch.ranges[index].isFinite else { continue }
      var real = pose
      real.position = position
      let bearing = real.azimuth(of: Lias.anchors[target])
      var sighting = TargetSighting(
        time: epoch.time, pose: drifted,
        range: epoch.ranges[index] - (isCorrected ? lias.biases[index] : 0))
      // Antennas cover 60 degrees to each side, and one azimuth in twelve is random.
      if azimuths, abs(bearing) < 60 * degree {
        sighting.azimuth =
          noise.uniform() < 0.08
          ? noise.uniform(-60 * degree, 60 * degree) : wrap(bearing + 6 * degree * noise.normal())
      }
      sightings.append(sighting)
      truth.append(bearing)
    }
  }
}
