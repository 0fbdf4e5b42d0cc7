// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import RangingScenes

/// Angles from simulated phases: A1 to A6.
enum AngleFigures {
  /// A model of an antenna with a ground plane. Its phases in radians are neither a sine nor
  /// symmetric, and span more than half a turn.
  struct Antenna {
    var name: String
    /// Half of the span of the phases, the middle of the span, and the curvature, in degrees of
    /// phase.
    var half: Double
    var middle: Double
    var bend: Double
    /// The shape between a sine (0) and a line (1).
    var linear: Double

    func phase(_ angle: Double) -> Double {
      let sine = sine(angle)
      let line = angle / (.pi / 2)
      return degree
        * (half * ((1 - linear) * sine + linear * line) + middle + bend * sine * sine)
    }

    /// The table that a turntable with steps of six degrees would measure.
    var table: PhaseTable? {
      PhaseTable(
        stride(from: -90.0, through: 90, by: 6).map { ($0 * degree, phase($0 * degree)) })
    }
  }

  /// Antennas with the spans of published tables: -194…166, -159…180 and -166…178 degrees.
  static let antennas = [
    Antenna(name: "0.45", half: 180, middle: -14, bend: 0, linear: 0.1),
    Antenna(name: "0.51", half: 170, middle: 6, bend: 5, linear: 0),
    Antenna(name: "0.42", half: 172, middle: -4, bend: 10, linear: 0.3),
  ]

  static func rows(_ settings: Settings) -> [AccuracyFigure] {
    var result: [AccuracyFigure] = []
    for (limit, aim) in [(45.0, 2.1), (60, 2.6), (80, 3.6)] {
      var (here, live, textbook) = (Errors(), Errors(), Errors())
      for (index, antenna) in antennas.enumerated() {
        let runs = sweep(
          antenna, limit: limit, seed: UInt64(index) + 31, count: settings.quick ? 600 : 3000)
        here.add(runs.smoothed)
        live.add(runs.live)
        textbook.add(runs.textbook)
      }
      let plain = ("arcsin, 0.45", Errors.rms(textbook.all) / degree)
      result.append(
        here.figure(
          "A1", "AoA within +-\(Int(limit)) deg, RMSE", "deg", scale: 1 / degree, textbook: plain,
          aim: .atMost(aim), Errors.rms))
      result.append(
        live.figure(
          "A1", "the same live", "deg", scale: 1 / degree, textbook: plain,
          aim: .atMost(aim), Errors.rms))
    }
    return result + ring(settings) + flawed(settings) + elsewhere() + sides() + changing()
  }

  /// Returns the directions of a person who walks back and forth, at 10 Hz.
  private static func sweep(
    _ antenna: Antenna, limit: Double, seed: UInt64, count: Int
  ) -> (smoothed: [Double], live: [Double], textbook: [Double]) {
    guard let table = antenna.table,
      let finder = DirectionFinder([AntennaPair(.table(table, x: 0, y: 1, z: 0))])
    else { return ([], [], []) }
    var noise = Noise(seed: seed)
    var rows: [(time: Double, phases: [Double?])] = []
    var truth: [Double] = []
    var phase = noise.uniform(0, 6)
    for step in 0..<count {
      phase += 0.1 * (20 / limit) * noise.uniform(0.5, 1.5)
      let angle = limit * degree * sine(phase)
      truth.append(angle)
      rows.append(
        (Double(step) * 0.1, [wrap(antenna.phase(angle) + 5 * degree * noise.normal())]))
    }
    func errors(_ found: [DirectionFinder.Direction?]) -> [Double] {
      zip(found, truth).map { ($0?.azimuth ?? 0) - $1 }
    }
    let plain = zip(rows, truth).map { row, angle in
      arcSine((row.phases[0] ?? 0) / (2 * .pi * 0.45)) - angle
    }
    return (
      errors(finder.directions(rows)), errors(finder.directions(rows, live: true)), plain
    )
  }

  /// Measures four antennas in a ring, with one wrong phase in a hundred: on a walk around them,
  /// and in independent rows.
  private static func ring(_ settings: Settings) -> [AccuracyFigure] {
    // Neighbours are 0.42 wavelengths apart. At half a wavelength, the phases of ahead and behind
    // would be equal.
    let positions = [(0.3, 0.0), (0, 0.3), (-0.3, 0), (0, -0.3)]
    let pairs = [(0, 1), (1, 2), (2, 3), (3, 0)].map { a, b in
      AntennaPair(
        .baseline(x: positions[a].0 - positions[b].0, y: positions[a].1 - positions[b].1, z: 0),
        offset: 0.2 * Double(a))
    }
    guard let finder = DirectionFinder(pairs) else { return [] }
    var (walk, apart, one) = (Errors(), Errors(), Errors())
    for seed in 41...43 {
      var noise = Noise(seed: UInt64(seed))
      func rows(_ azimuths: [Double], spacing: Double) -> [(time: Double, phases: [Double?])] {
        azimuths.enumerated().map { step, azimuth in
          let phases = pairs.map { pair -> Double? in
            if noise.uniform() < 0.01 { return noise.uniform(-.pi, .pi) }
            return wrap(pair.phase(azimuth: azimuth, elevation: 0) + 5 * degree * noise.normal())
          }
          return (Double(step) * spacing, phases)
        }
      }
      let count = settings.quick ? 720 : 3600
      let round = (0..<count).map { wrap(Double($0) * degree) }
      let any = (0..<count).map { _ in noise.uniform(-.pi, .pi) }
      let walked = rows(round, spacing: 0.1)
      let random = rows(any, spacing: 0.1)
      walk.add(zip(finder.directions(walked), round).map { wrap(($0?.azimuth ?? 0) - $1) })
      apart.add(zip(finder.directions(random), any).map { wrap(($0?.azimuth ?? 0) - $1) })
      one.add(
        zip(random, any).map { row, azimuth in
          // Two directions have the same cone angle. The reference gets the right one of them.
          let cone = arcSine(wrap((row.phases[0] ?? 0)) / (2 * .pi * 0.3 * 2.0.squareRoot()))
          let axis = arcTangent(-1, 1)
          let angles = [axis + (.pi / 2 - cone), axis - (.pi / 2 - cone)]
          return angles.map { wrap($0 - azimuth) }.min { abs($0) < abs($1) } ?? .pi
        })
    }
    let plain = ("one pair", Errors.rms(one.all) / degree)
    return [
      walk.figure(
        "A2", "ring of four, all round, a walk, RMSE", "deg", scale: 1 / degree, textbook: plain,
        aim: .atMost(4), Errors.rms),
      // Some rows are on the wrong side. The short form has so few rows that one or two of these
      // decide, so it has no aim.
      apart.figure(
        "A2", "the same, each row on its own", "deg", scale: 1 / degree, textbook: plain,
        aim: settings.quick ? nil : .atMost(4), Errors.rms),
    ]
  }

  /// Measures antennas whose phases differ from their model by 4, 7 and 9 degrees, as in each
  /// public recording. The difference is constant in each direction.
  private static func flawed(_ settings: Settings) -> [AccuracyFigure] {
    let arrays = [
      "one pair": [AntennaPair(.baseline(x: 0, y: 0.45, z: 0))],
      "ring of four": [(1.0, 1.0), (-1, 1), (-1, -1), (1, -1)].map {
        AntennaPair(.baseline(x: 0.3 * $0, y: 0.3 * $1, z: 0))
      },
    ]
    return arrays.sorted { $0.key < $1.key }.flatMap { name, pairs -> [AccuracyFigure] in
      var (recorded, live) = (Honesty(), Honesty())
      guard let finder = DirectionFinder(pairs) else { return [] }
      for seed in 51...56 {
        var noise = Noise(seed: UInt64(seed))
        let flaw = [4.0, 7, 9][seed % 3] * degree
        let real = pairs.map { pair in
          var real = pair
          real.harmonics =
            [(0, 0)]
            + (2...5).map { _ in
              (flaw / 2 * noise.normal(), flaw / 2 * noise.normal())
            }
          return real
        }
        let most = pairs.count > 1 ? Double.infinity : 60 * degree
        let truth = (0..<(settings.quick ? 720 : 3600)).map { step in
          let angle = Double(step) * degree / 2
          return most == .infinity ? wrap(angle) : most * sine(angle)
        }
        let rows = truth.enumerated().map { step, azimuth in
          (
            time: Double(step) * 0.1,
            phases: real.map { pair -> Double? in
              wrap(pair.phase(azimuth: azimuth, elevation: 0) + 5 * degree * noise.normal())
            }
          )
        }
        func errors(live: Bool) -> [Double] {
          zip(finder.directions(rows, live: live), truth).map {
            wrap(($0?.azimuth ?? .pi) - $1) / ($0?.standardDeviation ?? 1)
          }
        }
        recorded.add(errors(live: false))
        live.add(errors(live: true))
      }
      return recorded.figures("A3", "\(name), model 4 to 9 deg off, recorded")
        + live.figures("A3", "\(name), model 4 to 9 deg off, live")
    }
  }

  /// Measures a ring that was calibrated on a turntable in one place, and is used in another: A4.
  /// The reflections in both places have the same size, but differ.
  private static func elsewhere() -> [AccuracyFigure] {
    var (honest, wrong) = (Honesty(), [Double]())
    for seed in 61...66 {
      var noise = Noise(seed: UInt64(seed))
      let (radius, place) = (0.3, [0.0, 3.5, 5][seed % 3] * degree)
      let positions = [(radius, 0.0), (0, radius), (-radius, 0), (0, -radius)]
      /// Returns the phases that the reflections of a place add, as multiples of the azimuth up to
      /// the eighth. `deviation` is in degrees.
      func series(_ deviation: Double) -> [(cosine: Double, sine: Double)] {
        let each = deviation / 8.0.squareRoot()
        return (1...8).map { _ in (each * noise.normal(), each * noise.normal()) }
      }
      let pairs = [(0, 1), (1, 2), (2, 3), (3, 0)].map { a, b in
        AntennaPair(
          .baseline(x: positions[a].0 - positions[b].0, y: positions[a].1 - positions[b].1, z: 0),
          offset: 0.2 * Double(a), harmonics: [(0, 0)] + series(8 * degree))
      }
      func measured(_ azimuths: [Double]) -> [[Double?]] {
        let places = pairs.map { _ in
          AntennaPair(.baseline(x: 0, y: 0, z: 0), harmonics: series(place))
        }
        return azimuths.map { azimuth in
          zip(pairs, places).map { pair, place in
            if noise.uniform() < 0.01 { return noise.uniform(-.pi, .pi) }
            return wrap(
              pair.phase(azimuth: azimuth, elevation: 0)
                + place.phase(azimuth: azimuth, elevation: 0) + 5 * degree * noise.normal())
          }
        }
      }
      let turn = (0..<360).map { wrap(Double($0) * degree) }
      guard
        let fit = try? ArrayFit(
          zip(turn, measured(turn)).map { ArraySample(azimuth: $0, phases: $1) })
      else { preconditionFailure("the ring of seed \(seed) is refused") }
      let walk = (0..<1000).map { wrap(0.36 * Double($0) * degree) }
      let rows = measured(walk).enumerated().map { (time: Double($0) * 0.1, phases: $1) }
      guard let found = DirectionFinder(fit.pairsAnywhere)?.directions(rows) else { continue }
      let errors = zip(found, walk).map { wrap(($0?.azimuth ?? .pi) - $1) }
      honest.add(zip(errors, found).map { $0 / ($1?.standardDeviation ?? 1) })
      wrong.append(100 * Double(errors.count { abs($0) > 30 * degree }) / Double(errors.count))
    }
    return honest.figures("A4", "ring calibrated at another place")
      + [
        AccuracyFigure(
          id: "A4", quantity: "the same: directions on another side", unit: "%",
          value: Errors.mean(wrong), parts: wrong, aim: .atMost(1))
      ]
  }

  /// Measures rings that were calibrated in another place, with neighbours half a wavelength apart.
  /// Compares the share of directions on the right side with the stated probability.
  private static func sides() -> [AccuracyFigure] {
    var result: [AccuracyFigure] = []
    let paths: [(RingScene.Path, String)] = [
      (.resting, "at rest along two antennas"), (.walking, "walking round"),
      (.jumping, "rows apart"),
    ]
    for (path, name) in paths {
      for live in [false, true] {
        let told = RingScene.told(spacing: 0.495, path, live: live, seeds: 101..<161)
        result += figures(name + (live ? ", live" : ""), told)
      }
    }
    return result
  }

  /// Measures rings that were calibrated on one turn. Before the next turn, reflecting objects move
  /// and the coupling changes. Each row is used alone. The textbook's fit is given the baselines,
  /// and fits only the offsets.
  private static func changing() -> [AccuracyFigure] {
    var (here, textbook, honest) = (Errors(), Errors(), Honesty())
    for (reflection, drift) in [(0.02, 0.01), (0.05, 0.02), (0.1, 0.02)] {
      var (own, plain, ratios) = ([Double](), [Double](), [Double]())
      for seed in 71..<77 {
        let scene = RingScene.turns(reflection: reflection, drift: drift, seed: UInt64(seed))
        let turn = scene.turns[0].map { ArraySample(azimuth: $0.azimuth, phases: $0.phases) }
        guard let fit = try? ArrayFit(turn) else {
          preconditionFailure("the ring of seed \(seed) is refused")
        }
        for (error, deviation) in alone(fit.pairsAnywhere, scene.turns[1]) {
          own.append(error)
          ratios.append(error / deviation)
        }
        plain += alone(offsetsOnly(scene.baselines, turn), scene.turns[1]).map(\.error)
      }
      here.add(own)
      textbook.add(plain)
      honest.add(ratios)
    }
    return [
      here.figure(
        "A6", "ring, one turn, reflections of 2, 5 and 10 %: rows of the next turn, RMSE", "deg",
        scale: 1 / degree, textbook: ("offsets only", Errors.rms(textbook.all) / degree),
        aim: .atMost(4), Errors.rms)
    ] + honest.figures("A6", "rows of the next turn")
  }

  /// Returns the errors and deviations of independent rows in radians. Two wrong phases in a row
  /// lead to another side, which is not counted as an error of some degrees.
  private static func alone(
    _ pairs: [AntennaPair], _ rows: [(azimuth: Double, phases: [Double?])]
  ) -> [(error: Double, deviation: Double)] {
    guard let finder = DirectionFinder(pairs) else { return [] }
    return rows.compactMap { row in
      var track = DirectionFinder.Track()
      guard let found = finder.update(&track, time: 0, row.phases) else { return nil }
      let error = wrap(found.azimuth - row.azimuth)
      return abs(error) < 45 * degree ? (error, found.standardDeviation) : nil
    }
  }

  private static func offsetsOnly(
    _ baselines: [SIMD2<Double>], _ turn: [ArraySample]
  ) -> [AntennaPair] {
    baselines.enumerated().map { index, baseline in
      var pair = AntennaPair(.baseline(x: baseline.x, y: baseline.y, z: 0))
      var mean = PhasorMean()
      for sample in turn {
        guard let phase = sample.phases[index] else { continue }
        mean.add(phase - pair.phase(azimuth: sample.azimuth, elevation: 0))
      }
      pair.offset = mean.phase ?? 0
      return pair
    }
  }

  private static func figures(_ name: String, _ told: [RingScene.Told]) -> [AccuracyFigure] {
    func figure(
      _ quantity: String, _ told: [RingScene.Told], aim: AccuracyFigure.Aim? = nil,
      _ value: (RingScene.Told) -> Double
    ) -> AccuracyFigure {
      let value = Errors.mean(told.map(value))
      return AccuracyFigure(
        id: "A5", quantity: "ring, 0.495 wavelengths, \(name): \(quantity)", unit: "%",
        value: value, parts: [value], aim: aim)
    }
    let sure = told.filter { $0.probability >= 0.9 }
    return [
      figure("right side", told) { $0.isRight ? 100 : 0 },
      figure("stated", told) { 100 * $0.probability },
      figure("right of those stated 90 and more", sure, aim: .atLeast(90)) { $0.isRight ? 100 : 0 },
      figure("wrong without ambiguous", told) { $0.isRight || $0.probability < 0.7 ? 0 : 100 },
      figure("ambiguous", told) { $0.probability < 0.7 ? 100 : 0 },
    ]
  }
}

extension ArrayFit {
  /// The pairs with the errors of their models in other places, as a calibration file has them.
  fileprivate var pairsAnywhere: [AntennaPair] {
    pairs.map { pair in
      var known = pair
      known.modelDeviation =
        RangingCalibration.Pair(column: "", pair, residuals: residuals).modelDeviationAnywhere ?? 0
      return known
    }
  }
}
