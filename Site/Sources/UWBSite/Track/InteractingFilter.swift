// SPDX-License-Identifier: Apache-2.0

/// One or two motion models, each with its own filter, mixed by their probabilities.
struct InteractingFilter: Sendable, Codable {
  private(set) var models: [MotionModel] = []
  private var hasTwo = false
  private var first, other: JointFilter
  /// The probability of the second model; 0 with a single model.
  private(set) var second: Double
  /// The log-likelihoods of the measurements since the last call of `weigh`.
  private var gains = SIMD2<Double>.zero
  /// The log-likelihood of all measurements, without terms that all filters have in common.
  private(set) var evidence = 0.0

  /// - Parameter models: one model, or two.
  init(_ models: [MotionModel], slots: Int) {
    precondition(1...2 ~= models.count)
    self.models = models
    hasTwo = models.count == 2
    first = JointFilter(slots: slots)
    other = JointFilter(slots: hasTwo ? slots : 0)
    second = hasTwo ? 0.5 : 0
  }

  /// Saves the state without the models, which are rules of the site.
  private enum CodingKeys: CodingKey { case first, other, second, gains, evidence }

  /// Sets the models of a saved filter; false if the filter has no room for the anchors.
  mutating func resume(_ models: [MotionModel], slots: Int) -> Bool {
    (self.models, hasTwo) = (models, models.count == 2)
    let isRight = hasTwo ? 0...1 ~= second && other.chunks == first.chunks : second == 0
    return isRight && first.hasRoom(for: slots)
  }

  /// The most likely model.
  var likeliest: MotionModel { models[second > 0.5 ? 1 : 0] }

  /// The filter of the last model, which permits the fastest motion.
  var moving: JointFilter { hasTwo ? other : first }
  /// The position by the last model.
  var position: SIMD3<Double> { hasTwo ? other.position : first.position }

  mutating func restart(_ position: SIMD3<Double>, _ spread: Spread, isLevel: Bool) {
    for (index, model) in models.enumerated() {
      let speed = max(model.speed, 0.1)
      edit(index) { $0.restart(position, spread, speed: [speed, speed, isLevel ? 0 : speed]) }
    }
    if hasTwo { second = 0.5 }
    (gains, evidence) = (.zero, 0)
  }

  /// Changes the filter of a model.
  private mutating func edit(_ index: Int, _ body: (inout JointFilter) -> Void) {
    if index == 0 { body(&first) } else { body(&other) }
  }

  mutating func grow(slots: Int) {
    first.grow(slots: slots)
    if hasTwo { other.grow(slots: slots) }
  }

  /// Resets the errors of the anchor in `slot` to their prior.
  mutating func begin(slot: Int, constant: Double, slow: Double) {
    first.begin(slot: slot, constant: constant, slow: slow)
    if hasTwo { other.begin(slot: slot, constant: constant, slow: slow) }
  }

  /// Changes the constant error of the anchor in `slot`.
  mutating func change(slot: Int, _ change: ErrorChange) {
    first.change(slot: slot, change)
    if hasTwo { other.change(slot: slot, change) }
  }

  mutating func set(_ state: Int, _ value: Double, variance: Double) {
    first.set(state, value, variance: variance)
    if hasTwo { other.set(state, value, variance: variance) }
  }

  /// Makes the time of a round of arrivals unknown again, with a start value near `metres`.
  mutating func beginRound(near metres: Double) {
    first.beginRound(near: metres)
    if hasTwo { other.beginRound(near: metres) }
  }

  /// Updates the probabilities, mixes the filters, and predicts them over a step of time.
  ///
  /// - Parameter steps: the steps of both models.
  mutating func advance(_ dt: Double, _ steps: (MotionStep, MotionStep)) {
    weigh()
    if hasTwo { mix(dt) }
    first.advance(steps.0)
    if hasTwo { other.advance(steps.1) }
  }

  /// Applies the transitions between the models within `dt` seconds.
  private mutating func mix(_ dt: Double) {
    let (leave, back) = (1 - Math.exp(-dt / models[0].stay), 1 - Math.exp(-dt / models[1].stay))
    let next = (
      (1 - second) * (1 - leave) + second * back, (1 - second) * leave + second * (1 - back)
    )
    // The shares are the weights of the second model in each mixed filter.
    JointFilter.mix(
      &first, &other, share: second * back / next.0, other: second * (1 - back) / next.1)
    second = next.1
  }

  /// Updates each filter with a measurement.
  ///
  /// - Returns: the update of the most likely model.
  mutating func update(_ view: MeasurementView) -> FilterUpdate {
    let one = first.update(view)
    gains[0] += one.gain
    guard hasTwo else { return one }
    let two = other.update(view)
    gains[1] += two.gain
    return second > 0.5 ? two : one
  }

  /// Weighs the models by the measurements since the last call.
  mutating func weigh() {
    defer { gains = .zero }
    guard hasTwo else { return evidence += gains[0] }
    guard gains != .zero else { return }
    let most = max(gains[0], gains[1])
    let (rest, moving) = (
      (1 - second) * Math.exp(gains[0] - most), second * Math.exp(gains[1] - most)
    )
    evidence += most + Math.log(rest + moving)
    // Each model keeps a small probability, so that it can become likely again.
    second = min(max(moving / (rest + moving), 1e-3), 1 - 1e-3)
  }

  /// The mean of position and velocity over the models, and the covariance of the position.
  var estimate: (position: SIMD3<Double>, velocity: SIMD3<Double>, spread: Spread) {
    guard hasTwo else { return (first.position, first.velocity, first.spread) }
    let apart = other.position - first.position
    var spread = first.spread.scaled(1 - second)
    spread.add(other.spread, second)
    spread.add(apart, second * (1 - second))
    let velocity = first.velocity * (1 - second) + other.velocity * second
    return (first.position + apart * second, velocity, spread)
  }
}

/// A measurement with the places of its anchors, its noise and its age.
struct MeasurementView: Sendable {
  var measurement: TagMeasurement
  /// The places of the measurement's anchors.
  var anchor = SIMD3<Double>.zero
  var reference = SIMD3<Double>.zero
  var slot = -1
  var referenceSlot = -1
  /// The variance of the noise.
  var noise = 0.0
  /// Seconds by which the measurement is older than the filter.
  var age = 0.0
  /// The actual variance of innovations divided by the expected variance.
  var usual = 1.0
}

/// The effect of a measurement on a filter.
struct FilterUpdate: Sendable {
  var isUsed = false
  /// The squared innovation divided by its variance.
  var normalised = 0.0
  /// The measurement minus the expected value, and the learned errors in the expected value.
  var (innovation, learned) = (0.0, 0.0)
  /// The log-likelihood, without terms that all filters have in common.
  var gain = 0.0
}

extension JointFilter {
  /// The number of standard deviations beyond which a measurement is an outlier.
  static let gate = 4.0
  /// The degrees of freedom of Student's t: for ranges that are too short, and for all other
  /// measurements.
  ///
  /// A blocked path makes a range longer, so long ranges have heavier tails.
  private static let freedom = (short: 8.0, other: 4.0)

  /// The variance of an unknown time in m². 100 m exceed any error of a place.
  private static let unknownTime = 1e4

  /// Makes the time of a round of arrivals unknown again, with a start value near `metres`.
  mutating func beginRound(near metres: Double) { set(7, metres, variance: Self.unknownTime) }

  /// Updates the states with a measurement.
  mutating func update(_ view: MeasurementView) -> FilterUpdate {
    let sight = sight(view)
    let own = max(0, project(sight)) + sight.curvature
    var result = FilterUpdate()
    result.innovation = view.measurement.difference(from: sight.value)
    let variance = own + view.noise
    result.normalised = result.innovation * result.innovation / variance
    if view.slot >= 0 { result.learned = error(view.slot) }
    var freedom = Self.freedom.other
    switch view.measurement.kind {
    case .range where result.innovation < 0, .arrival where result.innovation < 0:
      freedom = Self.freedom.short
    default: break
    }
    // If all innovations are small, the filter that expects the smallest ones would always win.
    let ratio = 1 + result.normalised / (freedom * view.usual)
    // The power (1 + x)^(freedom + 1) is a product here, so that a single logarithm is enough.
    let fourth = ratio * ratio * ratio * ratio
    let power = (freedom == Self.freedom.short ? fourth * fourth : fourth) * ratio
    result.gain = -Math.log(power * variance) / 2
    guard result.normalised <= Self.gate * Self.gate else { return result }
    result.isUsed = true
    correct(
      innovation: result.innovation,
      variance: own + view.noise * (1 + result.normalised / freedom))
    return result
  }

  /// Returns the expected measurement in this state.
  private func sight(_ view: MeasurementView) -> Sight {
    var sight = Sight()
    (sight.slot, sight.reference) = (view.slot, view.referenceSlot)
    let here = view.age > 0 ? position - velocity * view.age : position
    switch view.measurement.kind {
    case .range:
      let (length, gradient) = ray(here, view.anchor)
      let bend = curvature(gradient, length)
      (sight.value, sight.curvature) = (length + bend.shift, bend.variance)
      sight.set(gradient, age: view.age)
      sight.lanes[6] = 1
      sight.value += mean[0][6]
    case .arrival:
      let (length, gradient) = ray(here, view.anchor)
      let bend = curvature(gradient, length)
      (sight.value, sight.curvature) = (length + bend.shift + mean[0][7], bend.variance)
      sight.set(gradient, age: view.age)
      // The unknown time contains the delay of the tag.
      sight.lanes[7] = 1
      sight.isArrival = true
    case .difference:
      let (first, second) = (ray(here, view.reference), ray(here, view.anchor))
      let bends = (
        curvature(first.gradient, first.length), curvature(second.gradient, second.length)
      )
      sight.value = second.length - first.length + bends.1.shift - bends.0.shift
      sight.curvature = abs(bends.1.variance - bends.0.variance)
      sight.set(second.gradient - first.gradient, age: view.age)
    case .azimuth, .elevation:
      let arm = here - view.anchor
      var angle = TagMeasurement.azimuth(arm)
      if case .elevation = view.measurement.kind { angle = TagMeasurement.elevation(arm) }
      sight.value = angle.value
      sight.set(angle.gradient, age: view.age)
      // Directions do not contain errors of distances.
      (sight.slot, sight.reference) = (-1, -1)
    case .odometry:
      let speed = velocity.length
      sight.value = speed
      sight.isMoving = true
      let along = speed > 1e-3 ? velocity / speed : .zero
      for axis in 0..<3 { sight.lanes[axis + 3] = along[axis] }
      sight.curvature = speed > 1e-3 ? 0 : 1
    }
    if sight.slot >= 0 { sight.value += error(sight.slot) }
    if sight.reference >= 0 { sight.value -= error(sight.reference) }
    return sight
  }

  private func ray(
    _ here: SIMD3<Double>, _ anchor: SIMD3<Double>
  ) -> (length: Double, gradient: SIMD3<Double>) {
    let arm = here - anchor
    let length = max(arm.length, 1e-3)
    return (length, arm / length)
  }

  /// Returns the effect of the curvature of a distance over the covariance of the position.
  ///
  /// They are the mean of the second-order term, and its variance.
  private func curvature(
    _ gradient: SIMD3<Double>, _ length: Double
  ) -> (shift: Double, variance: Double) {
    let spread = spread
    let along = spread.times(gradient)
    let line = (along * gradient).sum()
    let sum = spread.xx + spread.yy + spread.zz - line
    let off = spread.xy * spread.xy + spread.xz * spread.xz + spread.yz * spread.yz
    let squares =
      spread.xx * spread.xx + spread.yy * spread.yy + spread.zz * spread.zz + 2 * off
    let variance = (squares - 2 * (along * along).sum() + line * line) / (2 * length * length)
    return (sum / (2 * length), max(0, variance))
  }
}

extension Sight {
  /// Sets the derivative with respect to the position `age` seconds ago.
  fileprivate mutating func set(_ gradient: SIMD3<Double>, age: Double) {
    for axis in 0..<3 { lanes[axis] = gradient[axis] }
    guard age > 0 else { return }
    isMoving = true
    for axis in 0..<3 { lanes[axis + 3] = -age * gradient[axis] }
  }
}
