// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Filters of a track")
struct FilterTests {
  /// A filter at a place that is known to 10 cm, with one anchor in slot 0.
  private func filter(at place: SIMD3<Double> = [3, 4, 1], deviation: Double = 0.1) -> JointFilter {
    var filter = JointFilter(slots: 4)
    let variance = deviation * deviation
    filter.restart(
      place, Spread(xx: variance, xy: 0, xz: 0, yy: variance, yz: 0, zz: 1e-6),
      speed: [0.1, 0.1, 0])
    filter.begin(slot: 0, constant: 1e-4, slow: 1e-4)
    return filter
  }

  private func view(
    _ value: Double, _ kind: TagMeasurement.Kind = .range(anchor: 0), noise: Double = 0.01,
    age: Double = 0
  ) -> MeasurementView {
    var view = MeasurementView(measurement: TagMeasurement(time: 0, kind, value))
    (view.anchor, view.slot, view.noise, view.age) = ([0, 0, 1], 0, noise, age)
    return view
  }

  @Test(
    "A range moves the place along its direction, by the share of the variances",
    arguments: [0.01, 0.04, 0.0025])
  func range(_ noise: Double) {
    var filter = filter()
    let update = filter.update(view(5.1, noise: noise))
    #expect(update.isUsed)
    #expect(abs(update.innovation - 0.1) < 0.01)
    let moved = filter.position - [3, 4, 1]
    let share = 0.01 / (0.01 + 0.0002 + noise)
    #expect(abs(moved.x * 0.6 + moved.y * 0.8 - 0.1 * share) < 0.02)
    #expect(abs(moved.x * 0.8 - moved.y * 0.6) < 1e-6)
  }

  @Test(
    "A range too far off is not used",
    arguments: [(5.0, true), (5.5, true), (6.5, false), (3.5, false)])
  func gate(_ value: Double, _ isUsed: Bool) {
    var filter = filter()
    let update = filter.update(view(value))
    #expect(update.isUsed == isUsed)
    if !isUsed { #expect(filter.position == [3, 4, 1]) }
  }

  @Test(
    "A range that is too long counts less than one that is too short", arguments: [0.2, 0.3, 0.4])
  func oneSided(_ error: Double) {
    var (long, short) = (filter(), filter())
    _ = long.update(view(5 + error))
    _ = short.update(view(5 - error))
    let (far, near) = (long.position - [3, 4, 1], short.position - [3, 4, 1])
    #expect(far.length < near.length)
  }

  @Test("The likelihood falls with the innovation on both sides", arguments: [0.0, 0.1, 0.3, 0.6])
  func likelihood(_ error: Double) {
    for sign in [1.0, -1] {
      var (near, far) = (filter(), filter())
      #expect(
        near.update(view(5 + sign * error)).gain > far.update(view(5 + sign * (error + 0.1))).gain)
    }
  }

  @Test(
    "Directions move the place across",
    arguments: [TagMeasurement.Kind.azimuth(anchor: 0), .range(anchor: 0)])
  func directions(_ kind: TagMeasurement.Kind) {
    var filter = filter()
    let angle = Math.atan2(4, 3)
    let isAngle = kind == .azimuth(anchor: 0)
    _ = filter.update(view(isAngle ? angle + 0.01 : 5.05, kind, noise: isAngle ? 1e-6 : 1e-4))
    let moved = filter.position - [3, 4, 1]
    let (along, across) = (moved.x * 0.6 + moved.y * 0.8, moved.y * 0.6 - moved.x * 0.8)
    #expect(abs(isAngle ? along : across) < 0.01)
    #expect(abs((isAngle ? across : along) - 0.05) < 0.02)
  }

  @Test("An old range corrects the place of its time", arguments: [0.0, 0.2, 0.4])
  func late(_ age: Double) {
    var filter = filter()
    filter.set(3, 0.6, variance: 1e-6)
    filter.set(4, 0.8, variance: 1e-6)
    // A second ago the tag was a metre nearer.
    let update = filter.update(view(5 - age, age: age))
    #expect(abs(update.innovation) < 0.01)
  }

  // MARK: models

  /// Follows a tag with ranges to four anchors.
  private func follow(
    _ models: [MotionModel], rounds: Int, _ place: (Double) -> SIMD3<Double>
  ) -> InteractingFilter {
    var scene = TrackScene()
    var filter = InteractingFilter(models, slots: 4)
    filter.restart(
      place(0), Spread(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 1e-4), isLevel: true)
    for slot in 0..<4 { filter.begin(slot: slot, constant: 1e-3, slow: 1e-3) }
    for number in 1...rounds {
      let time = Double(number) / 10
      let steps = models.map {
        MotionStep($0, 0.1, height: .fixed(1, deviation: 0.01), slow: (1e-3, 2))
      }
      filter.advance(0.1, (steps[0], steps[steps.count - 1]))
      for one in scene.round(time, at: place(time)) {
        var view = MeasurementView(measurement: one)
        view.slot = one.anchors.anchor
        view.anchor = scene.anchors[view.slot].position
        view.noise = 0.03 * 0.03
        _ = filter.update(view)
      }
      filter.weigh()
    }
    return filter
  }

  @Test(
    "The likelier model follows from the motion",
    arguments: [(0.0, MotionModel.Kind.rest), (1.0, .walk), (1.4, .walk)])
  func models(_ speed: Double, _ kind: MotionModel.Kind) {
    let filter = follow([.rest, .walk], rounds: 40) { [2 + speed * $0, 4, 1] }
    #expect(filter.likeliest.kind == kind)
    let estimate = filter.estimate
    #expect((estimate.position - [2 + 4 * speed, 4, 1]).length < 0.15)
    #expect(abs(estimate.velocity.x - speed) < 0.3)
  }

  @Test(
    "A single model has no weight of a second one", arguments: [MotionModel.rest, .walk, .drone])
  func single(_ model: MotionModel) {
    let filter = follow([model], rounds: 20) { _ in [5, 4, 1] }
    #expect(filter.second == 0)
    #expect(filter.likeliest == model)
    #expect(filter.evidence.isFinite)
    #expect((filter.estimate.position - [5, 4, 1]).length < 0.1)
  }

  @Test("A place that fits has more evidence than another one")
  func evidence() {
    let right = follow([.rest, .walk], rounds: 10) { _ in [5, 4, 1] }
    let wrong = follow([.rest, .walk], rounds: 10) { $0 == 0 ? [5.8, 4.6, 1] : [5, 4, 1] }
    #expect(right.evidence > wrong.evidence)
  }

  // MARK: slow errors

  @Test(
    "The scouts find the size of slow errors",
    arguments: [(0.02, 0), (0.6, 2)])
  func scouts(_ size: Double, _ likeliest: Int) {
    var scene = TrackScene()
    var scouts = SlowErrorScouts(JointFilter(slots: 4), time: 0)
    let sizes = SIMD3<Double>(1, 2, 4) * 0.075
    #expect(scouts.weights.max() == scouts.weights[0])
    for slot in 0..<4 { scouts.begin(slot: slot, constant: 1e-4, slow: sizes * sizes) }
    for number in 1...80 {
      let time = Double(number)
      scouts.advance(to: time, interval: 1, sizes: sizes) { dt, size in
        MotionStep(.rest, dt, height: .fixed(1, deviation: 0.01), slow: (size * size, 2))
      }
      #expect(scouts.isListening)
      for one in scene.round(time, at: [0, 0, 1]) {
        var view = MeasurementView(measurement: one)
        view.slot = one.anchors.anchor
        view.anchor = scene.anchors[view.slot].position
        view.measurement.value += size * (Double((number / 3 + 7 * view.slot) % 5) / 2 - 1)
        view.noise = 0.01
        scouts.update(view)
      }
    }
    #expect(abs(scouts.weights.sum() - 1) < 1e-9)
    #expect(scouts.weights[likeliest] == scouts.weights.max(), "\(scouts.weights)")
  }

  @Test("Fast tags spare the scouts most rounds", arguments: [(0.05, 40...110), (0.2, 300...300)])
  func spared(_ interval: Double, _ rounds: ClosedRange<Int>) {
    var scouts = SlowErrorScouts(JointFilter(slots: 4), time: 0)
    var heard = 0
    for number in 1...300 {
      scouts.advance(to: Double(number) * interval, interval: interval, sizes: [1, 2, 4]) { dt, _ in
        MotionStep(.rest, dt, height: .fixed(1), slow: (0.01, 2))
      }
      heard += scouts.isListening ? 1 : 0
    }
    #expect(rounds.contains(heard), "\(heard)")
  }

  // MARK: anchors

  /// Adds the residuals of ranges of two tags around an anchor.
  private func watch(
    _ seconds: Int, _ residual: (SIMD3<Double>) -> Double, isOutlier: Bool = false
  ) -> [AnchorWatch.Finding] {
    var watch = AnchorWatch()
    var found: [AnchorWatch.Finding] = []
    for number in 0..<10 * seconds {
      let angle = Double(number) * 0.7
      let direction = SIMD3(Math.cos(angle), Math.sin(angle), 0)
      let finding = watch.add(
        tag: number % 2, time: Double(number) / 10, direction: direction,
        residual: residual(direction), isOutlier: isOutlier)
      if let finding {
        found.append(finding)
        watch.name()
      }
    }
    return found
  }

  @Test(
    "The displacement of an anchor follows from the residuals",
    arguments: [SIMD3<Double>(1, 0, 0), [0, -2, 0], [3, 4, 0]])
  func displacement(_ moved: SIMD3<Double>) throws {
    let found = watch(60) { -($0 * moved).sum() }
    let first = try #require(found.first)
    guard case .moved(let by) = first else {
      Issue.record("\(first)")
      return
    }
    #expect(found.count == 1)
    #expect((by - moved).length < 0.1 * moved.length)
  }

  @Test("Usual errors and common ones are no displacement", arguments: [0.0, 0.1, 0.15])
  func usual(_ size: Double) {
    #expect(watch(60) { _ in size }.isEmpty)
    #expect(watch(60) { size * $0.x }.isEmpty)
  }

  @Test("Ranges that fit no place are doubtful")
  func doubtful() {
    #expect(watch(60, { _ in 2 }, isOutlier: true) == [.doubtful])
  }
}
