// SPDX-License-Identifier: Apache-2.0

/// Filters that assume different sizes of slow errors, weighted by the quality of their
/// predictions.
///
/// With a fast tag, they process only one round in four, since slow errors last for seconds.
struct SlowErrorScouts: Sendable, Codable {
  /// The seconds after which the weight of a prediction has fallen to a third.
  ///
  /// Slow errors last as long as the place is the same.
  private static let memory = 30.0

  private var small, medium, large: JointFilter
  private var scores = SIMD3<Double>.zero
  /// The prior log-probabilities of the sizes: large errors are exceptions.
  private static let prior = SIMD3<Double>(0, -3, -6)
  private var time: Double
  private var count: UInt32 = 0
  /// Whether the measurements of the current time are used.
  private(set) var isListening = false

  /// - Parameter filter: the filter whose state all filters copy.
  init(_ filter: JointFilter, time: Double) {
    (small, medium, large) = (filter, filter, filter)
    self.time = time
  }

  /// Decides whether the measurements of a new time are used, and predicts the filters to this
  /// time.
  ///
  /// - Parameter step: Returns the motion over a number of seconds, for a size of slow errors.
  mutating func advance(
    to next: Double, interval: Double, sizes: SIMD3<Double>,
    _ step: (_ dt: Double, _ size: Double) -> MotionStep
  ) {
    count &+= 1
    // A hash selects the rounds, because every fourth round might always be of the same anchor.
    isListening = interval > 0.15 || (count &* 0x9E37_79B9) >> 30 == 0
    guard isListening else { return }
    let dt = next - time
    time = next
    small.advance(step(dt, sizes[0]))
    medium.advance(step(dt, sizes[1]))
    large.advance(step(dt, sizes[2]))
    scores *= Math.exp(-dt / Self.memory)
  }

  mutating func update(_ view: MeasurementView) {
    guard isListening else { return }
    scores += SIMD3(small.update(view).gain, medium.update(view).gain, large.update(view).gain)
  }

  /// Makes the time of a round of arrivals unknown again, with a start value near `metres`.
  mutating func beginRound(near metres: Double) {
    guard isListening else { return }
    small.beginRound(near: metres)
    medium.beginRound(near: metres)
    large.beginRound(near: metres)
  }

  /// The probability of each size.
  var weights: SIMD3<Double> {
    let known = scores + Self.prior
    let most = known.max()
    let all = SIMD3(
      Math.exp(known[0] - most), Math.exp(known[1] - most), Math.exp(known[2] - most))
    return all / all.sum()
  }

  /// Returns whether the filters of a state have room for a number of anchors.
  func hasRoom(for slots: Int) -> Bool {
    [small, medium, large].allSatisfy { $0.hasRoom(for: slots) }
  }

  mutating func grow(slots: Int) {
    small.grow(slots: slots)
    medium.grow(slots: slots)
    large.grow(slots: slots)
  }

  /// Changes the constant error of the anchor in `slot`.
  mutating func change(slot: Int, _ change: ErrorChange) {
    small.change(slot: slot, change)
    medium.change(slot: slot, change)
    large.change(slot: slot, change)
  }

  /// Resets the errors of the anchor in `slot` to their prior.
  mutating func begin(slot: Int, constant: Double, slow: SIMD3<Double>) {
    small.begin(slot: slot, constant: constant, slow: slow[0])
    medium.begin(slot: slot, constant: constant, slow: slow[1])
    large.begin(slot: slot, constant: constant, slow: slow[2])
  }
}
