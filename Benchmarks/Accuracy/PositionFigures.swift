// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import RangingScenes

/// Positions from the ranges of some tracks, recorded and live, compared with a robust smoother.
/// The smoother has the acceleration, out of three, with the smallest error.
struct PositionFigures {
  struct Track {
    var samples: [PositionSample]
    /// The truth at each sample; nil where it is unknown.
    var truth: [SIMD3<Double>?]
    /// The known height in metres.
    var height: Double
  }

  private(set) var recorded = Errors()
  private(set) var live = Errors()
  private(set) var robust = Errors()
  private var honestRecorded = Honesty()
  private var honestLive = Honesty()
  private var (circles, liveCircles) = (Honesty(), Honesty())

  /// - Parameter isCompared: whether to run the robust smoother as well.
  init(_ tracks: [Track], isCompared: Bool = true) {
    for track in tracks {
      var parameters = PositionTracker.Parameters()
      parameters.height = HeightPrior(track.height, standardDeviation: 0.02)
      for isLive in [false, true] {
        let way = PositionSmoother(parameters).path(track.samples, live: isLive)
        let errors = Self.errors(way.map { $0?.estimate.position }, track)
        let stated = zip(way, track.truth).flatMap { point, truth in
          truth.map { TrolleyFigures.stated(point?.estimate, $0) } ?? []
        }
        let within = zip(way, track.truth).compactMap { point, truth in
          truth.flatMap { truth in
            point.map { TrolleyFigures.flat($0.estimate.position - truth) / $0.estimate.r95 }
          }
        }
        if isLive {
          live.add(errors)
          honestLive.add(stated)
          liveCircles.add(within)
        } else {
          recorded.add(errors)
          honestRecorded.add(stated)
          circles.add(within)
        }
      }
    }
    guard isCompared else { return }
    let ways = [0.1, 1, 10].map { acceleration in
      var errors = Errors()
      for track in tracks {
        let way = RobustSmoother(acceleration: acceleration).path(
          track.samples, from: track.truth, height: track.height)
        errors.add(Self.errors(way, track))
      }
      return errors
    }
    robust = ways.min { Errors.rms($0.all) < Errors.rms($1.all) } ?? robust
  }

  /// Returns the horizontal errors. A missing position counts as 100 m.
  private static func errors(_ way: [SIMD3<Double>?], _ track: Track) -> [Double] {
    zip(way, track.truth).compactMap { position, truth in
      truth.map { truth in position.map { TrolleyFigures.flat($0 - truth) } ?? 100 }
    }
  }

  /// Returns the shares of errors within the stated deviations, and the ratio of the errors to the
  /// errors of the robust smoother.
  ///
  /// The smoother uses the whole recording, and the acceleration is chosen for it by the truth. The
  /// aim without the truth is at most a tenth more. It is higher for live positions, which cannot
  /// use later ranges.
  ///
  /// - Parameter chance: see `Honesty`.
  func figures(_ id: String, _ name: String, chance: Double = 0) -> [AccuracyFigure] {
    honestRecorded.figures(id, "\(name): position, recorded", chance: chance)
      + honestLive.figures(id, "\(name) live", chance: chance) + [
        circles.places(id, "\(name): position, recorded"),
        liveCircles.places(id, "\(name) live"),
      ]
      + (robust.all.isEmpty ? [] : [("recorded", recorded, 1.1), ("live", live, 1.25)]).map {
        way, errors, most in
        AccuracyFigure(
          id: id, quantity: "\(name): \(way), times the RMSE of a robust smoother", unit: "",
          textbook: ("robust smoother, given the truth's acceleration", Errors.rms(robust.all)),
          value: Errors.rms(errors.all) / Errors.rms(robust.all),
          parts: zip(errors.parts, robust.parts).map { Errors.rms($0) / Errors.rms($1) },
          aim: .atMost(most))
      }
  }
}

/// Figures of a robot in a labyrinth, where nearly all ranges pass a wall: M3.
enum LabyrinthFigures {
  static func rows(_ recordings: Recordings) -> [AccuracyFigure] {
    guard let labyrinth = Labyrinth(recordings) else { return [] }
    let found = PositionFigures([
      .init(samples: labyrinth.samples, truth: labyrinth.truth, height: 0)
    ])
    let statistics: [(String, Double, ([Double]) -> Double)] = [
      ("RMSE", 0.2, Errors.rms), ("median", 0.15, { quantile($0, 0.5) }),
      ("95 %", 0.36, { quantile($0, 0.95) }),
    ]
    return [("recorded", found.recorded), ("live", found.live)].flatMap { way, errors in
      statistics.map { name, aim, statistic in
        errors.figure(
          "M3", "labyrinth: position, four anchors, \(way), \(name)", "m",
          textbook: ("robust smoother", statistic(found.robust.all)), aim: .atMost(aim), statistic)
      }
    }
      // The recording has half a minute. In simulated recordings of this length with the assumed
      // errors, 19 in 20 live shares are between 66 and 81. This corresponds to a standard error of
      // 4.
      + found.figures("M3", "labyrinth", chance: 4)
  }
}
