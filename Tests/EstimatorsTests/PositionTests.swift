// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

@Suite(.computes) struct PositionTests {
  static let anchors = [
    SIMD3<Double>(0, 0, 0.5), SIMD3<Double>(6, 0, 2.5), SIMD3<Double>(6, 5, 0.5),
    SIMD3<Double>(0, 5, 2.5),
    SIMD3<Double>(3, 6, 1.5),
  ]

  static func ranges(_ position: SIMD3<Double>, _ anchors: [SIMD3<Double>] = anchors)
    -> [PositionObservation]
  {
    anchors.map { PositionObservation(.range($0), (position - $0).length, standardDeviation: 0.1) }
  }

  @Test func `Warnings are printed by their names`() {
    #expect("\(GeometryWarnings())" == "ok")
    #expect("\([.dilution, .mirror] as GeometryWarnings)" == "mirror+dilution")
  }

  /// The circle contains 95 % of random positions. The covariances are a line, equal deviations,
  /// and unequal deviations with correlation.
  @Test(arguments: [(1.0, 0.0, 1e-12), (1, 0, 1), (4, 1.5, 1), (0.04, 0, 0.25)])
  func `A radius has 95 % of the positions`(xx: Double, xy: Double, yy: Double) throws {
    var estimate = try #require(PositionSolver().solve(Self.ranges(SIMD3<Double>(2, 3.5, 0.2))))
    estimate.covariance = Symmetric3(xx: xx, xy: xy, xz: 0, yy: yy, yz: 0, zz: 9)
    var noise = Noise(seed: 41)
    let (slope, rest) = (xy / xx, (yy - xy * xy / xx).squareRoot())
    var within = 0.0
    for _ in 0..<20_000 {
      let x = xx.squareRoot() * noise.normal()
      let y = slope * x + rest * noise.normal()
      within += x * x + y * y <= estimate.r95 * estimate.r95 ? 1 : 0
    }
    #expect(abs(within / 20_000 - 0.95) < 0.006, "\(within)")
  }

  @Test func `Exact ranges determine the position`() throws {
    let position = SIMD3<Double>(2, 3.5, 0.2)
    let found = try #require(PositionSolver().solve(Self.ranges(position)))
    #expect((found.position - position).length < 1e-4)
    #expect(found.warnings.isEmpty)
    // One range that is wrong by ten metres does not matter.
    var ranges = Self.ranges(position)
    ranges[2].value += 10
    let robust = try #require(
      PositionSolver(height: HeightPrior(0.2, standardDeviation: 0.1)).solve(ranges))
    #expect((robust.position - position).length < 0.15)
  }

  /// Returns the share of positions whose y is within two stated deviations, from one epoch with an
  /// error that all ranges share.
  private static func covered(_ solver: PositionSolver) -> Double {
    var (within, count) = (0.0, 0.0)
    let truth = SIMD3<Double>(2, -3, 1)
    for seed in 1...300 as ClosedRange<UInt64> {
      var noise = Noise(seed: seed)
      let shared = 0.2 * noise.normal()
      let ranges = anchors.map {
        PositionObservation(
          .range($0), (truth - $0).length + shared + 0.2 * noise.normal(), standardDeviation: 0.2)
      }
      guard let found = solver.solve(ranges) else { continue }
      count += 1
      within += abs(found.position.y - truth.y) <= 2 * found.covariance.yy.squareRoot() ? 1 : 0
    }
    return count > 250 ? within / count : 0
  }

  /// Anchors on one side do not show whether an error of all ranges or another position is the
  /// cause.
  @Test func `A position of one epoch includes an error that all ranges share`() {
    var solver = PositionSolver(height: HeightPrior(1, standardDeviation: 0.02))
    #expect(Self.covered(solver) < 0.85)
    solver.sharedDeviation = 0.2
    #expect(0.88...0.99 ~= Self.covered(solver))
  }

  /// The device is at rest, and its ranges have less noise than assumed. Small innovations do not
  /// show that the constant errors are small.
  @Test func `Calm ranges do not make great constant errors smaller`() throws {
    var parameters = PositionTracker.Parameters()
    parameters.height = HeightPrior(1, standardDeviation: 0.02)
    let truth = SIMD3<Double>(2, 2, 1)
    let errors = PositionErrorModel.uncalibrated
    var within = 0.0
    for seed in 1...60 as ClosedRange<UInt64> {
      var noise = Noise(seed: seed)
      let shared = errors.shared * noise.normal()
      let ranges = Self.anchors.map {
        (truth - $0).length + shared + errors.own * noise.normal()
      }
      var start = try #require(PositionSolver().solve(Self.ranges(truth)))
      start.covariance = Symmetric3(xx: 1, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1)
      var tracker = PositionTracker(at: start, time: 0, sources: 5, errors: errors, parameters)
      for step in 0..<150 {
        let source = step % 5
        tracker.update(
          PositionSample(
            time: 0.2 * Double(step),
            observation: PositionObservation(
              .range(Self.anchors[source]), ranges[source], standardDeviation: 0.15),
            source: source))
      }
      let error = abs(tracker.position.y - truth.y)
      within += error <= 2 * tracker.covariance.yy.squareRoot() ? 1 : 0
    }
    #expect(within / 60 >= 0.88, "\(within) of 60")
  }

  /// Many measurements have one time. Two anchors have no other measurements, and some measurements
  /// are wrong.
  @Test func `Thousands of measurements of one time determine the position`() throws {
    let position = SIMD3<Double>(2, 3.5, 0.2)
    let exact = Self.ranges(position)
    var many = [exact[3], exact[4]] + (0..<6_000).map { exact[$0 % 3] }
    for index in many.indices where index % 10 == 5 { many[index].value += 7 }
    let found = try #require(PositionSolver().solve(many))
    #expect((found.position - position).length < 0.05, "\(found.position)")
    let few = try #require(PositionSolver().solve(exact))
    #expect(found.covariance.xx < few.covariance.xx)
  }

  /// If the input is scaled by ten and turned, the result is scaled and turned as well.
  @Test func `Does not depend on scale and rotation`() throws {
    let position = SIMD3<Double>(2, 3.5, 1.2)
    func turned(_ v: SIMD3<Double>) -> SIMD3<Double> { SIMD3<Double>(-v.y, v.x, v.z) * 10 }
    let anchors = Self.anchors.map(turned)
    let observations = anchors.map {
      PositionObservation(.range($0), (turned(position) - $0).length, standardDeviation: 1)
    }
    let found = try #require(PositionSolver().solve(observations))
    #expect((found.position - turned(position)).length < 1e-3)
    let plain = try #require(PositionSolver().solve(Self.ranges(position)))
    #expect(abs(found.covariance.zz / plain.covariance.zz - 100) < 1)
  }

  @Test func `Differences determine the position`() throws {
    let position = SIMD3<Double>(2, 3.5, 1.2)
    let first = Self.anchors[0]
    let observations = Self.anchors.dropFirst().map {
      PositionObservation(
        .difference(first, $0), (position - $0).length - (position - first).length,
        standardDeviation: 0.1)
    }
    let found = try #require(PositionSolver().solve(observations))
    #expect((found.position - position).length < 1e-3)
  }

  @Test func `Warns about the geometry`() throws {
    // At one height, above and below are indistinguishable.
    let flat = Self.anchors.map { SIMD3<Double>($0.x, $0.y, 2) }
    let position = SIMD3<Double>(2, 3, 0.8)
    let found = try #require(PositionSolver().solve(Self.ranges(position, flat)))
    #expect(found.warnings.contains(.coplanar) && found.warnings.contains(.mirror))
    #expect(abs(found.position.x - 2) < 0.01 && abs(abs(found.position.z - 2) - 1.2) < 0.01)
    // On one line, left and right are indistinguishable, whatever the height.
    let line = (0..<4).map { SIMD3<Double>(Double($0), 0, 1) }
    let height = HeightPrior(1, standardDeviation: 0.02)
    let mirrored = try #require(
      PositionSolver(height: height).solve(Self.ranges(SIMD3<Double>(1.5, 4, 1), line)))
    #expect(mirrored.warnings.contains(.mirror))
    // The device is far away from a small cluster of anchors.
    let far = try #require(
      PositionSolver(height: height).solve(
        Self.ranges(SIMD3<Double>(80, 10, 1), Self.anchors.map { $0 * 0.2 })))
    #expect(far.warnings.contains(.dilution))
    #expect(PositionSolver().solve([]) == nil)
    #expect(PositionSolver().solve(Self.ranges(position, [.zero, .zero, .zero])) == nil)
    #expect(PositionSolver().solve([PositionObservation(.range(.zero), .nan)]) == nil)
  }

  /// A walk around the room with wrong ranges and an anchor that measures too far.
  static func walk(seed: UInt64) -> (samples: [PositionSample], truth: [SIMD3<Double>]) {
    var noise = Noise(seed: seed)
    var samples: [PositionSample] = []
    var truth: [SIMD3<Double>] = []
    for step in 0..<300 {
      let time = Double(step) / 10
      let x = time / 8 - (time / 8).rounded(.down)
      // Around a square with round corners: two triangle waves a quarter apart.
      func wave(_ x: Double) -> Double {
        let part = x - x.rounded(.down)
        let bend = 2 * part - 1
        return bend * (1 - abs(bend)) * 4
      }
      let position = SIMD3<Double>(3 + 2 * wave(x), 2.5 + 2 * wave(x + 0.25), 1.2)
      let source = step % anchors.count
      var range = (position - anchors[source]).length + 0.05 * noise.normal()
      if source == 1 { range += 0.25 }
      if noise.uniform() < 0.02 { range += 40 * noise.uniform() }
      samples.append(
        PositionSample(
          time: time, observation: PositionObservation(.range(anchors[source]), range),
          source: source))
      truth.append(position)
    }
    return (samples, truth)
  }

  @Test func `Follows a walk`() throws {
    let (samples, truth) = Self.walk(seed: 1)
    var parameters = PositionTracker.Parameters()
    parameters.height = HeightPrior(1.2, standardDeviation: 0.1)
    func rms(live: Bool) throws -> Double {
      var squares = 0.0
      for (point, position) in zip(PositionSmoother(parameters).path(samples, live: live), truth) {
        let error = try #require(point).estimate.position - position
        squares += error.x * error.x + error.y * error.y
      }
      return (squares / Double(truth.count)).squareRoot()
    }
    #expect(try rms(live: true) < 0.3)
    // If the whole walk is used, the wrong anchor is detected.
    #expect(try rms(live: false) < 0.08)
  }

  /// The device circles the middle in three seconds, with five measurements in each second. No
  /// pedestrian moves like this, and no option declares the movement.
  @Test func `Follows fast movement`() throws {
    var noise = Noise(seed: 9)
    var samples: [PositionSample] = []
    var truth: [SIMD3<Double>] = []
    for step in 0..<120 {
      let time = Double(step) / 5
      let position = SIMD3<Double>(3 + 2.5 * sine(2.1 * time), 2.5 + 2.5 * cosine(2.1 * time), 1.2)
      for (source, anchor) in Self.anchors.enumerated() {
        let range = (position - anchor).length + 0.05 * noise.normal()
        samples.append(
          PositionSample(
            time: time, observation: PositionObservation(.range(anchor), range), source: source)
        )
        truth.append(position)
      }
    }
    var parameters = PositionTracker.Parameters()
    parameters.height = HeightPrior(1.2, standardDeviation: 0.1)
    for live in [false, true] {
      var errors = Spread()
      for (point, position) in zip(PositionSmoother(parameters).path(samples, live: live), truth) {
        errors.add(try #require(point).estimate, position)
      }
      #expect((errors.squares / Double(truth.count)).squareRoot() < 0.2, "\(live)")
    }
  }

  /// Eight walks with ranges or differences of ranges, through rooms whose anchors have the
  /// errors of the model.
  @Test(arguments: [false, true]) func `The covariance of a path matches its error`(
    differences: Bool
  ) throws {
    let model = PositionErrorModel()
    var (live, smooth) = (Spread(), Spread())
    for seed in 0..<8 {
      var noise = Noise(seed: UInt64(100 + seed))
      let shared = model.shared * noise.normal()
      let own = Self.anchors.map { _ in shared + model.own * noise.normal() }
      var slow = Self.anchors.map { _ in model.slow * noise.normal() }
      let fade = 0.95
      var samples: [PositionSample] = []
      var truth: [SIMD3<Double>] = []
      for step in 0..<200 {
        let time = Double(step) * 0.1
        let turn = time / 3
        let position = SIMD3<Double>(
          3 + 1.5 * wave(turn), 2.5 + 1.5 * wave(turn + 1.57), 1.2 + 0.4 * wave(turn * 2))
        for index in slow.indices {
          slow[index] =
            fade * slow[index] + model.slow * (1 - fade * fade).squareRoot() * noise.normal()
        }
        let (a, b) = (step % 5, (step * 3 + 1) % 5)
        func error(_ index: Int) -> Double { own[index] + slow[index] }
        func length(_ index: Int) -> Double { (position - Self.anchors[index]).length }
        if differences {
          guard a != b else { continue }
          samples.append(
            PositionSample(
              time: time,
              observation: PositionObservation(
                .difference(Self.anchors[a], Self.anchors[b]),
                length(b) - length(a) + error(b) - error(a) + 0.15 * noise.normal()),
              source: b, reference: a))
        } else {
          samples.append(
            PositionSample(
              time: time,
              observation: PositionObservation(
                .range(Self.anchors[a]), length(a) + error(a) + 0.15 * noise.normal()),
              source: a))
        }
        truth.append(position)
      }
      var parameters = PositionTracker.Parameters()
      parameters.height = HeightPrior(1.2, standardDeviation: 0.4)
      var smoother = PositionSmoother(parameters)
      smoother.accelerations = [1]
      // The comparison skips the first seconds, in which the search for the position takes place.
      for (point, position) in zip(smoother.path(samples, live: true), truth).dropFirst(50) {
        live.add(try #require(point).estimate, position)
      }
      for (point, position) in zip(smoother.path(samples), truth).dropFirst(50) {
        smooth.add(try #require(point).estimate, position)
      }
    }
    #expect((0.5...1.6).contains(live.normalised), "\(live)")
    #expect((0.5...1.6).contains(smooth.normalised), "\(smooth)")
    #expect(smooth.squares < 0.75 * live.squares, "\(smooth) \(live)")
  }

  /// Ten samples of equal noise within a tenth of a second have as much information as one.
  @Test(arguments: [false, true]) func `Measurements in quick succession are not new ones`(
    live: Bool
  ) throws {
    let samples = Self.walk(seed: 7).samples.prefix(120)
    let often = samples.flatMap { sample in
      (0..<10).map { step in
        var again = sample
        again.time += Double(step) * 0.001
        return again
      }
    }
    var smoother = PositionSmoother(height: HeightPrior(1.2, standardDeviation: 0.02))
    smoother.accelerations = [1]
    let once = smoother.path(Array(samples), live: live)
    let many = smoother.path(often, live: live)
    var ratios: [Double] = []
    for index in samples.indices.dropFirst(60) {
      let (a, b) = (try #require(once[index]), try #require(many[10 * index + 9]))
      ratios.append((b.estimate.covariance.xx / a.estimate.covariance.xx).squareRoot())
    }
    let middle = ratios.sorted()[ratios.count / 2]
    #expect(0.8...1.2 ~= middle, "\(middle)")
  }

  /// The first position of a stream does not wait a second for the height.
  @Test(arguments: [false, true]) func `A known height holds at the first position`(
    live: Bool
  ) throws {
    let samples = Array(Self.walk(seed: 7).samples.prefix(60))
    let smoother = PositionSmoother(height: HeightPrior(1.2, standardDeviation: 0.02))
    let first = try #require(smoother.path(samples, live: live)[0]).estimate
    #expect(abs(first.position.z - 1.2) < 0.05, "\(first.position.z)")
    #expect(first.covariance.zz < 0.05 * 0.05, "\(first.covariance.zz)")
  }

  /// Differences to one anchor count as many measurements as there are other anchors, whichever
  /// anchor is the first.
  @Test(arguments: [false, true]) func `Differences are the same from both ends`(live: Bool) throws
  {
    var noise = Noise(seed: 11)
    var samples: [[PositionSample]] = [[], []]
    for step in 0..<200 {
      let time = Double(step / 4) * 0.02
      let position = SIMD3<Double>(3 + time, 2.5, 1.2)
      let (a, b) = (0, step % 4 + 1)
      let value =
        (position - Self.anchors[b]).length - (position - Self.anchors[a]).length
        + 0.1 * noise.normal()
      for (index, (first, second, sign)) in [(a, b, 1.0), (b, a, -1.0)].enumerated() {
        samples[index].append(
          PositionSample(
            time: time,
            observation: PositionObservation(
              .difference(Self.anchors[first], Self.anchors[second]), sign * value),
            source: second, reference: first))
      }
    }
    let smoother = PositionSmoother(height: HeightPrior(1.2, standardDeviation: 0.02))
    let paths = samples.map { smoother.path($0, live: live) }
    for (one, other) in zip(paths[0], paths[1]) {
      let (one, other) = (try #require(one).estimate, try #require(other).estimate)
      #expect((one.position - other.position).length < 1e-6)
      #expect(abs(one.covariance.xx / other.covariance.xx - 1) < 1e-6)
    }
  }

  /// The differences of all pairs of five anchors come from five arrivals, and so do four
  /// differences to one anchor.
  @Test(arguments: [false, true]) func `Differences of all pairs are not new ones`(
    live: Bool
  ) throws {
    var noise = Noise(seed: 12)
    var (star, all): ([PositionSample], [PositionSample]) = ([], [])
    for step in 0..<200 {
      let time = Double(step) * 0.1
      let position = SIMD3<Double>(3 + 0.1 * time, 2.5, 1.2)
      let arrivals = Self.anchors.map { (position - $0).length + 0.1 * noise.normal() }
      for a in arrivals.indices {
        for b in arrivals.indices where b > a {
          let sample = PositionSample(
            time: time,
            observation: PositionObservation(
              .difference(Self.anchors[a], Self.anchors[b]), arrivals[b] - arrivals[a]),
            source: b, reference: a)
          if a == 0 { star.append(sample) }
          all.append(sample)
        }
      }
    }
    func variance(_ samples: [PositionSample]) throws -> Double {
      var smoother = PositionSmoother(height: HeightPrior(1.2, standardDeviation: 0.02))
      smoother.accelerations = [1]
      return try #require(smoother.path(samples, live: live).last ?? nil).estimate.covariance.xx
    }
    #expect(0.7...1.3 ~= (try variance(all) / variance(star)).squareRoot())
    let epochs = [star, all].map { $0.filter { $0.time == 5 } }
    let solver = PositionSolver(height: HeightPrior(1.2, standardDeviation: 0.02))
    let alone = try epochs.map {
      try #require(solver.solve($0.observations(errors: [:]))).covariance.xx
    }
    #expect(0.6...1.4 ~= (alone[1] / alone[0]).squareRoot(), "\(alone)")
  }

  @Test func `Survives invalid input`() {
    var noise = Noise(seed: 5)
    for _ in 0..<5 {
      let samples = (0..<40).map { step in
        PositionSample(
          time: Double(step) * noise.uniform() * 3,
          observation: PositionObservation(
            .range(Self.anchors[step % 5]), [0, 1e6, -5, 3][Int(noise.uniform() * 4)]),
          source: step % 5)
      }.sorted { $0.time < $1.time }
      for point in PositionSmoother().path(samples).compactMap({ $0 }) {
        #expect(point.estimate.position.isFinite && point.estimate.covariance.xx.isFinite)
      }
    }
    #expect(PositionSmoother().path([]).isEmpty)
  }

  /// Differences to four anchors determine a position.
  @Test func `Computes a position from differences`() throws {
    let anchors = [
      SIMD3<Double>(0, 0, 2.5), SIMD3<Double>(8, 1, 2.2), SIMD3<Double>(7, 7, 2.6),
      SIMD3<Double>(-1, 6, 0.6),
    ]
    var scene = DownlinkScene(seed: 5)
    var observations: [PositionObservation] = []
    for anchor in anchors.dropFirst() {
      scene.responder = anchor
      let (exchange, _) = scene.round()
      let found = try exchange.difference(scene.clocks)
      observations.append(
        PositionObservation(
          .difference(scene.initiator, anchor), found.metres,
          standardDeviation: found.standardDeviation))
    }
    let solver = PositionSolver(height: HeightPrior(1, standardDeviation: 0.02))
    let position = try #require(solver.solve(observations)).position
    #expect((position - scene.tag).length < 0.05)
  }
}

/// Errors of positions in the plane, in metres and in units of the stated deviation.
private struct Spread {
  var squares = 0.0
  private var claimed = 0.0
  private var count = 0.0
  var normalised: Double { claimed / count }

  mutating func add(_ estimate: PositionEstimate, _ truth: SIMD3<Double>) {
    let error = estimate.position - truth
    squares += error.x * error.x + error.y * error.y
    claimed += error.x * error.x / estimate.covariance.xx
    claimed += error.y * error.y / estimate.covariance.yy
    count += 2
  }
}

/// A smooth wave of period 2π and height 1, near a sine: a parabola for each half.
private func wave(_ phase: Double) -> Double {
  let turn = phase / (2 * .pi)
  let bend = 2 * (turn - turn.rounded(.down)) - 1
  return -bend * (1 - abs(bend)) * 4
}
