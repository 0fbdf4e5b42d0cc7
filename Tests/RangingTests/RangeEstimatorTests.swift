// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing
import UWBTestSupport

extension RangeEstimator {
  /// Returns the estimate after `sample`; the test fails without one.
  mutating func taken(_ sample: RangeSample) throws -> RangeEstimate {
    let estimate = update(sample)
    return try #require(estimate)
  }
}

@Suite(.computes) struct RangeEstimatorTests {
  /// A filter that has seen ten seconds of a peer at rest, at 10 Hz with 5 cm of noise.
  static func settled(at distance: Double = 4, seed: UInt64 = 1) -> RangeEstimator {
    var noise = Noise(seed: seed)
    var estimator = RangeEstimator(.white)
    for step in 0..<100 {
      estimator.update(
        RangeSample(
          time: Double(step) / 10, distance: distance + 0.05 * noise.normal(),
          standardDeviation: 0.05))
    }
    return estimator
  }

  @Test func `The first sample is the first estimate`() throws {
    var estimator = RangeEstimator()
    #expect(estimator.prediction(at: 0) == nil)
    let sample = RangeSample(time: 3, distance: 2, standardDeviation: 0.2)
    let estimate = try estimator.taken(sample)
    #expect(estimate.disposition == .started && estimate.isAccepted)
    let slow = estimator.parameters.slowDeviation
    #expect(estimate.distance == 2)
    #expect(abs(estimate.standardDeviation - (0.04 + slow * slow).squareRoot()) < 1e-12)
    #expect(estimate.shortTermDeviation == estimate.standardDeviation)
    #expect(estimate.velocity == 0 && estimate.velocityStandardDeviation == 2)
  }

  /// Without a calibration of the delays, each pair of boards has an error of its own. No number of
  /// samples shows this error.
  @Test func `Distances of uncalibrated boards are as wrong as stated`() throws {
    var noise = Noise(seed: 32)
    var parameters = RangeEstimator.Parameters()
    parameters.constantDeviation = ChipFamily.dw3000.uncalibratedDeviation
    let pairs = 400
    var (within, withinTwo, short) = (0, 0, 0)
    for _ in 0..<pairs {
      let constant = parameters.constantDeviation * noise.normal()
      let slow = parameters.slowDeviation * noise.normal()
      var estimator = RangeEstimator(parameters)
      var last: RangeEstimate?
      for step in 0..<50 {
        let distance = 4 + constant + slow + 0.05 * noise.normal()
        last = estimator.update(
          RangeSample(time: Double(step) / 5, distance: distance, standardDeviation: 0.05))
      }
      let estimate = try #require(last)
      let error = abs(estimate.distance - 4)
      within += error <= estimate.standardDeviation ? 1 : 0
      withinTwo += error <= 2 * estimate.standardDeviation ? 1 : 0
      short += error <= estimate.shortTermDeviation ? 1 : 0
    }
    #expect(0.62...0.74 ~= Double(within) / Double(pairs))
    #expect(0.93...0.98 ~= Double(withinTwo) / Double(pairs))
    // The first version of this filter stated only the short-term deviation.
    #expect(Double(short) / Double(pairs) < 0.3)
  }

  @Test func `Converges for a peer at rest and a walking one`() throws {
    let rest = try #require(Self.settled().prediction(at: 9.9))
    #expect(abs(rest.distance - 4) < 0.08)
    #expect(rest.standardDeviation < 0.05)
    var noise = Noise(seed: 2)
    var estimator = RangeEstimator()
    var latest: RangeEstimate?
    for step in 0..<100 {
      let time = Double(step) / 10
      latest = estimator.update(
        RangeSample(
          time: time, distance: 1 + 1.2 * time + 0.05 * noise.normal(), standardDeviation: 0.05))
    }
    let walking = try #require(latest)
    #expect(abs(walking.distance - (1 + 1.2 * 9.9)) < 0.1)
    #expect(abs(walking.velocity - 1.2) < 2.5 * walking.velocityStandardDeviation)
    #expect(walking.velocityStandardDeviation < 0.6)
    let ahead = try #require(estimator.prediction(at: 10.4))
    #expect(ahead.disposition == .predicted)
    #expect(abs(ahead.distance - walking.distance - walking.velocity * 0.5) < 1e-9)
    #expect(ahead.standardDeviation > walking.standardDeviation)
  }

  /// The truth moves with exactly the acceleration that the filter assumes, so its error must have
  /// exactly the stated deviation.
  @Test func `The stated deviation matches the error`() throws {
    var parameters = RangeEstimator.Parameters.white
    (parameters.learnsAcceleration, parameters.learnsNoise) = (false, false)
    var (distances, velocities) = (Spread(), Spread())
    for seed in 1...100 {
      var estimator = RangeEstimator(parameters)
      for (step, one) in Wanderer.way(200, seed: UInt64(seed)).enumerated() {
        let estimate = try estimator.taken(one.sample)
        guard step >= 50 else { continue }
        distances.add((estimate.distance - one.distance) / estimate.standardDeviation)
        velocities.add((estimate.velocity - one.velocity) / estimate.velocityStandardDeviation)
      }
    }
    #expect((0.9...1.05).contains(distances.deviation), "\(distances.deviation)")
    #expect((0.9...1.05).contains(velocities.deviation), "of the velocity \(velocities.deviation)")
  }

  /// The deviation also holds without options for the movement and the noise. The peer hardly moves
  /// or flies, and the stated deviation of samples is wrong.
  @Test(arguments: [0.01, 1, 10], [0.05, 0.1, 0.2])
  func `Learns acceleration and noise`(_ density: Double, _ noise: Double) throws {
    var live = Spread()
    var within = (one: 0.0, two: 0.0, all: 0.0)
    for seed in 1...10 {
      var estimator = RangeEstimator(.white)
      for (step, one) in Wanderer.way(400, density: density, noise: noise, seed: UInt64(seed))
        .enumerated()
      {
        let estimate = try estimator.taken(one.sample)
        guard step >= 100 else { continue }
        let error = (estimate.distance - one.distance) / estimate.standardDeviation
        live.add(error)
        within.one += abs(error) < 1 ? 1 : 0
        within.two += abs(error) < 2 ? 1 : 0
        within.all += 1
      }
    }
    #expect((0.8...1.2).contains(live.deviation), "\(live.deviation)")
    #expect((0.58...0.82).contains(within.one / within.all), "\(within.one / within.all)")
    #expect((0.88...0.99).contains(within.two / within.all), "\(within.two / within.all)")
  }

  @Test func `Rejects gross outliers`() throws {
    var noise = Noise(seed: 4)
    var estimator = Self.settled()
    var (outliers, worst) = (0, 0.0)
    for step in 100..<1100 {
      let isWrong = noise.uniform() < 0.1
      let distance = isWrong ? 100 + 500 * noise.uniform() : 4 + 0.05 * noise.normal()
      let estimate = try estimator.taken(
        RangeSample(time: Double(step) / 10, distance: distance, standardDeviation: 0.05))
      #expect(estimate.isOutlier == isWrong)
      outliers += isWrong ? 1 : 0
      worst = max(worst, abs(estimate.distance - 4))
    }
    #expect(outliers > 50)
    #expect(worst < 0.3)
  }

  /// The first two samples differ. The longer distance counts as wrong until a third sample
  /// decides.
  @Test func `Recovers soon from an outlier at the start`() throws {
    var estimator = RangeEstimator()
    estimator.update(RangeSample(time: 0, distance: 300))
    let second = try estimator.taken(RangeSample(time: 0.1, distance: 4))
    #expect(second.disposition == .restartedAfterRejections && second.distance == 4)
    var other = RangeEstimator()
    other.update(RangeSample(time: 0, distance: 4))
    #expect(try other.taken(RangeSample(time: 0.1, distance: 300)).isOutlier)
    #expect(try other.taken(RangeSample(time: 0.2, distance: 4)).disposition == .accepted)
    var short = RangeEstimator()
    short.update(RangeSample(time: 0, distance: 4))
    #expect(try short.taken(RangeSample(time: 0.1, distance: 30)).isOutlier)
    let third = try short.taken(RangeSample(time: 0.2, distance: 30))
    #expect(third.disposition == .restartedAfterRejections && third.distance == 30)
  }

  /// A wrong sample beside a right sample looks like speed. The third sample decides which of them
  /// was wrong.
  @Test(arguments: [0, 1], [0.5, 1.2, 2, -0.6])
  func `One wrong sample at the start is soon forgotten`(_ wrong: Int, _ error: Double) throws {
    for (interval, seed) in zip([0.1, 0.18, 0.1, 0.18], UInt64(1)...) {
      var noise = Noise(seed: seed)
      var estimator = RangeEstimator()
      for step in 0..<12 {
        let truth = 5 + 0.7 * interval * Double(step)
        let distance = truth + 0.05 * noise.normal() + (step == wrong ? error : 0)
        let estimate = try estimator.taken(
          RangeSample(time: Double(step) * interval, distance: distance))
        guard step >= max(2, wrong + 1) else { continue }
        let rest = abs(estimate.distance - truth)
        #expect(rest < 0.3, "\(step) at \(interval): \(rest)")
        #expect(rest < 2.5 * estimate.standardDeviation)
        if step >= 5 { #expect(rest < 0.2, "\(step) at \(interval): \(rest)") }
      }
    }
  }

  /// A peer that really is fast does not look like a wrong sample.
  @Test func `A fast peer is followed from the start`() throws {
    for interval in [0.01, 0.1, 0.2] {
      var noise = Noise(seed: 9)
      var estimator = RangeEstimator()
      for step in 0..<20 {
        let truth = 20 - 5 * interval * Double(step)
        let estimate = try estimator.taken(
          RangeSample(time: Double(step) * interval, distance: truth + 0.05 * noise.normal()))
        #expect(estimate.isAccepted)
        #expect(abs(estimate.distance - truth) < 3 * estimate.standardDeviation)
      }
    }
  }

  /// The detour round an obstacle is the same in all samples: averaging does not remove it.
  @Test func `Many samples round an obstacle do not make it certain`() throws {
    var (free, blocked) = (RangeEstimator(), RangeEstimator())
    for step in 0..<100 {
      var sample = RangeSample(time: Double(step) / 10, distance: 4)
      free.update(sample)
      (sample.inflation, sample.standardDeviation) = (16, 0.4)
      blocked.update(sample)
    }
    let (a, b) = (try #require(free.prediction(at: 9.9)), try #require(blocked.prediction(at: 9.9)))
    #expect(a.standardDeviation < 0.1 && b.standardDeviation > 0.28)
    // After the obstacle, the detour is forgotten.
    for step in 100..<200 {
      blocked.update(RangeSample(time: Double(step) / 10, distance: 4))
    }
    #expect(try #require(blocked.prediction(at: 19.9)).standardDeviation < 0.1)
  }

  /// A detour adds to the stated deviation, but not to the short-term deviation.
  @Test func `The doubt about a path is stated beside the short-term deviation`() throws {
    var (free, blocked) = (RangeEstimator(), RangeEstimator())
    for step in 0..<100 {
      var sample = RangeSample(time: Double(step) / 10, distance: 4, standardDeviation: 0.05)
      free.update(sample)
      sample.doubt = 1
      blocked.update(sample)
    }
    let (a, b) = (try #require(free.prediction(at: 9.9)), try #require(blocked.prediction(at: 9.9)))
    #expect(b.standardDeviation > 1 && b.standardDeviation < 1.01)
    #expect(a.shortTermDeviation == b.shortTermDeviation && a.standardDeviation < 0.1)
    for step in 100..<200 {
      blocked.update(
        RangeSample(time: Double(step) / 10, distance: 4, standardDeviation: 0.05))
    }
    #expect(try #require(blocked.prediction(at: 19.9)).standardDeviation < 0.1)
  }

  @Test func `A jump restarts the filter after several rejections`() throws {
    var estimator = Self.settled()
    var dispositions: [RangeEstimate.Disposition] = []
    for step in 100..<110 {
      let estimate = estimator.update(
        RangeSample(time: Double(step) / 10, distance: 30, standardDeviation: 0.05))
      dispositions.append(try #require(estimate).disposition)
    }
    #expect(dispositions[..<7].allSatisfy { $0 == .rejectedAsOutlier })
    #expect(dispositions[7] == .restartedAfterRejections)
    #expect(dispositions[8...].allSatisfy { $0 == .accepted })
    #expect(try #require(estimator.prediction(at: 10.9)).distance == 30)
    #expect(estimator.rejections == 0)
  }

  @Test func `A gap restarts the filter`() throws {
    var estimator = Self.settled()
    let near = estimator.update(RangeSample(time: 14, distance: 4.1, standardDeviation: 0.05))
    #expect(try #require(near).disposition == .accepted)
    let late = estimator.update(RangeSample(time: 20, distance: 50, standardDeviation: 0.05))
    #expect(try #require(late).disposition == .restartedAfterGap)
    #expect(try #require(late).distance == 50)
  }

  @Test func `Ignores repeated and late samples`() throws {
    var plain = RangeEstimator()
    var disturbed = RangeEstimator()
    var noise = Noise(seed: 5)
    for step in 0..<50 {
      let sample = RangeSample(time: Double(step) / 10, distance: 4 + 0.05 * noise.normal())
      let expected = plain.update(sample)
      #expect(disturbed.update(sample) == expected)
      #expect(disturbed.update(sample)?.disposition == .duplicate)
      if step > 0 {
        let late = RangeSample(time: Double(step) / 10 - 0.05, distance: 9)
        let estimate = try disturbed.taken(late)
        #expect(estimate.disposition == .outOfOrder && !estimate.isAccepted)
        #expect(estimate.distance == expected?.distance)
      }
    }
    #expect(plain == disturbed)
  }

  @Test func `A clock that goes back restarts the filter`() throws {
    var estimator = Self.settled()
    let estimate = try estimator.taken(RangeSample(time: 0, distance: 7))
    #expect(estimate.disposition == .restartedAfterGap && estimate.distance == 7)
  }

  @Test func `Samples without line of sight count less`() throws {
    func moved(_ nonLineOfSight: Bool?) throws -> RangeEstimate {
      var estimator = Self.settled()
      let sample = RangeSample(
        time: 10, distance: 4.2, standardDeviation: 0.05, nonLineOfSight: nonLineOfSight)
      return try estimator.taken(sample)
    }
    let (clear, unknown, blocked) = (try moved(false), try moved(nil), try moved(true))
    #expect(clear == unknown)
    #expect(abs(blocked.distance - 4) < abs(clear.distance - 4))
    #expect(blocked.standardDeviation > clear.standardDeviation)
  }

  @Test(arguments: [
    RangeSample(time: .nan, distance: 1), RangeSample(time: 10, distance: .infinity),
    RangeSample(time: 10, distance: 1, standardDeviation: 0),
    RangeSample(time: 10, distance: 1, standardDeviation: -1),
    RangeSample(time: 10, distance: 1, standardDeviation: .nan),
  ])
  func whatIsNoNumberIsRefused(_ sample: RangeSample) throws {
    var fresh = RangeEstimator()
    #expect(fresh.update(sample) == nil)
    var estimator = Self.settled()
    let before = estimator
    #expect(try estimator.taken(sample).disposition == .invalid)
    #expect(estimator == before)
  }

  /// Ten samples within the time in which errors are shared have hardly more information than one.
  @Test func `Samples close in time count as one`() throws {
    func deviation(rate: Double) throws -> Double {
      var estimator = RangeEstimator()
      var last: RangeEstimate?
      for step in 0..<Int(20 * rate) {
        last = estimator.update(
          RangeSample(time: Double(step) / rate, distance: 5 + 1e-6 * Double(step % 2)))
      }
      return try #require(last).standardDeviation
    }
    #expect(try deviation(rate: 100) > 0.85 * deviation(rate: 10))
  }

  @Test func `A path that is reported as blocked may be metres too long`() throws {
    var deviations: [RangeEstimate] = []
    for blocked in [nil, false, true] as [Bool?] {
      var estimator = RangeEstimator()
      for step in 0..<30 {
        estimator.update(
          RangeSample(time: Double(step) * 0.1, distance: 4, nonLineOfSight: blocked))
      }
      deviations.append(try #require(estimator.prediction(at: 3)))
    }
    #expect(deviations[0].standardDeviation == deviations[1].standardDeviation)
    // Published medians of the detour are 0.5 to 1.1 m.
    #expect(1.0...1.5 ~= deviations[2].standardDeviation)
    #expect(deviations[2].shortTermDeviation < 0.4)
  }
}
