// SPDX-License-Identifier: Apache-2.0

/// The place of one tag, followed measurement by measurement.
///
/// The track begins with all places that the first measurements do not exclude, and keeps mirror
/// images until later measurements decide. Each place is a pair of motion models with the errors
/// of the anchors. Time is an input: the track takes measurements up to half a second late.
package struct TagTrack: Sendable, Codable {
  /// The probability of an alternative place above which the place is refused.
  private static let doubt = 0.025
  /// The log-likelihood ratio beyond which an alternative is discarded.
  private static let exclusion = 10.0
  /// The time in seconds by which a measurement may be late.
  package static let latest = 0.5
  private static let mostSlots = 16
  /// The standard deviation in metres above which a place is refused.
  private static let widest = 5.0

  /// The metres outside of the anchors' hull at which differences alone still determine a place.
  private static let margin = 1.0
  /// The seconds for which a distance or a direction confirms a place outside of the hull.
  private static let memory = 3.0

  private struct Slot: Sendable, Codable {
    var anchor: Int
    var place: SIMD3<Double>
    /// The time of its last measurement.
    var time: Double
    /// The error of its clock without synchronisation.
    var clock: ClockError?
  }

  package private(set) var carrier = Carrier.person
  package private(set) var height: Height
  private var errors = Errors()
  private var models: [MotionModel] = []

  private struct Search: Sendable, Codable {
    var since = -Double.infinity
    var next = -Double.infinity
  }

  private struct Turn: Sendable, Codable {
    var rate = 0.0
    var until = -Double.infinity
  }

  private var slots: [Slot] = []
  private var room = 0
  private var alternatives: [InteractingFilter] = []
  private var scouts: SlowErrorScouts?
  private var slowVariance: Double
  private var noise = LearnedNoise()
  private var recent = RecentMeasurements()
  private var rhythm = Rhythm()
  /// The time of the newest measurement.
  package private(set) var time = -Double.infinity
  /// The start of the search for a first place, and the time of the next attempt.
  private var search = Search()
  /// The number of rejected minus accepted measurements, at least 0.
  private var balance = 0
  private var turn = Turn()
  /// The time of the last distance or direction.
  private var held = -Double.infinity
  /// The number of the last round of arrivals.
  private var round = 0

  /// Creates a track without a place.
  package init(_ carrier: Carrier, _ height: Height, _ errors: Errors = Errors()) {
    (self.carrier, self.height, self.errors) = (carrier, height, errors)
    models = carrier.models
    slowVariance = errors.slow * errors.slow
  }

  /// Whether there is a place, certain or not.
  package var isTracking: Bool { !alternatives.isEmpty }

  /// The height for the motion. A wide band is room to fly in, so a drone uses it for the start
  /// only.
  private var level: Height {
    if carrier == .drone, case .within = height { .free } else { height }
  }

  /// The most likely position in metres, for the directions of anchors.
  var position: SIMD3<Double> {
    isTracking ? alternatives[leader].position : .zero
  }

  /// The time after which a silent tag is lost: twelve usual intervals, at least a second.
  package var lostFrom: Double { time + rhythm.patience }

  // MARK: measurements

  /// Adds a measurement.
  ///
  /// - Parameter anchors: all anchors of the site, in the order of their indices.
  package mutating func add(_ measurement: TagMeasurement, _ anchors: [Anchor]) -> Reception {
    guard measurement.isUsable(anchors: anchors.count) else { return .init(.unusable) }
    guard measurement.time >= time - Self.latest else { return .init(.late) }
    guard !recent.contains(measurement) else { return .init(.repeated) }
    recent.add(measurement)
    if measurement.time > time { advance(to: measurement.time, anchors) }
    guard isTracking else { return .init(.waiting) }
    let reception = take(measurement, anchors)
    if balance >= max(8, 2 * slots.count) { restart(anchors) }
    return reception
  }

  /// Adds the arrivals of one moment, whose common time is unknown.
  ///
  /// - Returns: the effect of each arrival.
  package mutating func add(
    _ arrivals: Arrivals, at time: Double, _ anchors: [Anchor]
  ) -> [Reception] {
    round &+= 1
    let own = arrivals.entries.map { entry in
      var one = TagMeasurement(
        time: time, .arrival(anchor: entry.anchor, round: round), entry.metres,
        deviation: entry.deviation, blocked: entry.blocked)
      if entry.shared > 0 { one.shared = entry.shared }
      return one
    }
    func all(_ kind: Reception.Kind) -> [Reception] { own.map { _ in .init(kind) } }
    // A single arrival determines only the unknown time.
    guard own.count > 1, own.allSatisfy({ $0.isUsable(anchors: anchors.count) }) else {
      return all(.unusable)
    }
    guard time >= self.time - Self.latest else { return all(.late) }
    guard !recent.contains(own[own.count - 1]) else { return all(.repeated) }
    for one in own { recent.add(one) }
    if time > self.time { advance(to: time, anchors) }
    guard isTracking else { return all(.waiting) }
    let receptions = take(own, anchors)
    if balance >= max(8, 2 * slots.count) { restart(anchors) }
    return receptions
  }

  /// Sets the height of the floor on which the tag is now.
  package mutating func set(height: Height) {
    guard height != self.height else { return }
    self.height = height
    for index in alternatives.indices {
      let place = alternatives[index].estimate.position
      let prior = height.prior(near: place, reach: 10)
      alternatives[index].set(2, prior.middle, variance: prior.variance)
    }
    scouts = nil
  }

  private mutating func advance(to next: Double, _ anchors: [Anchor]) {
    if time > -.infinity {
      let dt = next - time
      // After a long silence, the place is searched again.
      if next > lostFrom, dt > 5 { forget() }
      rhythm.add(dt)
      noise.fade(dt)
      predict(dt, next)
    }
    time = next
    if alternatives.count > 1 { compare() }
    if !isTracking { begin(anchors) }
    if alternatives.count == 1, scouts == nil {
      scouts = SlowErrorScouts(alternatives[0].moving, time: time)
    }
  }

  private mutating func predict(_ dt: Double, _ next: Double) {
    guard isTracking else { return }
    if let weights = scouts?.weights {
      let sizes = errors.slowSizes * errors.slow
      slowVariance = (weights * sizes * sizes).sum()
    }
    let angle = next < turn.until ? turn.rate * dt : 0
    let level = level
    let first = MotionStep(
      models[0], dt, height: level, turn: angle, slow: errors.slow(slowVariance, models[0]))
    let other =
      models.count == 2
      ? MotionStep(
        models[1], dt, height: level, turn: angle, slow: errors.slow(slowVariance, models[1]))
      : first
    for index in alternatives.indices { alternatives[index].advance(dt, (first, other)) }
    let (model, errors) = (scoutModel, errors)
    scouts?.advance(to: next, interval: rhythm.interval, sizes: errors.slowSizes) { dt, size in
      let deviation = size * errors.slow
      return MotionStep(
        model, dt, height: level, turn: angle, slow: errors.slow(deviation * deviation, model))
    }
  }

  /// The motion model of the filters that compare sizes of slow errors.
  ///
  /// At rest, a slow error cannot be distinguished from a step.
  private var scoutModel: MotionModel {
    let likeliest = alternatives[leader].likeliest
    return likeliest.kind == .rest ? models[models.count - 1] : likeliest
  }

  /// - Parameter isFirst: whether the measurement only determines the time of its round.
  @discardableResult
  private mutating func take(
    _ measurement: TagMeasurement, _ anchors: [Anchor], isFirst: Bool = false
  ) -> Reception {
    if case .odometry(let rate) = measurement.kind {
      turn = Turn(rate: rate, until: measurement.time + max(0.5, 3 * rhythm.interval))
    }
    let view = view(measurement, anchors)
    var best = FilterUpdate()
    let leader = leader
    for index in alternatives.indices {
      let update = alternatives[index].update(view)
      if index == leader { best = update }
    }
    scouts?.update(view)
    if !isFirst, measurement.deviation < TagMeasurement.distrusted {
      noise.add(best.normalised)
      balance = max(0, balance + (best.isUsed ? -1 : 1))
    }
    return Reception(
      best.isUsed ? .used : .rejected, residual: best.innovation + best.learned,
      normalised: best.normalised)
  }

  /// Processes the arrivals of a round.
  ///
  /// The first arrival determines the time of the round, and so has no innovation. The arrival with
  /// the median residual is used: an arrival that is late by metres would affect all other
  /// arrivals.
  private mutating func take(_ round: [TagMeasurement], _ anchors: [Anchor]) -> [Reception] {
    for one in round { share(one.shared, of: slot(one.anchors.anchor, anchors)) }
    let leading = alternatives[leader].moving
    let here = leading.position - leading.velocity * max(0, time - round[0].time)
    let rests = round.map { one in
      let anchor = one.anchors.anchor
      let learned = slots.firstIndex { $0.anchor == anchor }.map { leading.error($0) } ?? 0
      return (
        value: one.value - (here - anchors[anchor].position).length - learned, learned: learned
      )
    }
    let middle = rests.map(\.value).sorted()[rests.count / 2]
    let order = rests.indices.sorted {
      (abs(rests[$0].value - middle), $0) < (abs(rests[$1].value - middle), $1)
    }
    for index in alternatives.indices { alternatives[index].beginRound(near: middle) }
    scouts?.beginRound(near: middle)
    var receptions = round.map { _ in Reception(.used) }
    for (place, index) in order.enumerated() {
      receptions[index] = take(round[index], anchors, isFirst: place == 0)
      receptions[index].residual = rests[index].value - middle + rests[index].learned
    }
    return receptions
  }

  /// Returns a measurement with its slots and its noise.
  private mutating func view(_ measurement: TagMeasurement, _ anchors: [Anchor]) -> MeasurementView
  {
    var view = MeasurementView(measurement: measurement)
    let (anchor, reference) = measurement.anchors
    view.age = max(0, time - measurement.time)
    view.noise = measurement.deviation * measurement.deviation
    let jolt = models[models.count - 1].jolt(view.age)
    if anchor >= 0 {
      view.anchor = anchors[anchor].position
      view.slot = slot(anchor, anchors)
      let since = abs(measurement.time - slots[view.slot].time)
      switch measurement.kind {
      case .range:
        let repeats: Double = max(1, errors.noiseTime / max(since, 1e-3))
        view.noise = repeats * (view.noise + jolt + 0.25 * measurement.blocked)
      case .arrival: view.noise += jolt + 0.25 * measurement.blocked
      default: break
      }
      slots[view.slot].time = max(slots[view.slot].time, measurement.time)
    }
    // The speed of a model is not an error of measurements. Other places are compared with care:
    // constant errors do not appear in innovations.
    if anchor >= 0, alternatives.count == 1 { view.usual = noise.usual }
    switch measurement.kind {
    case .range, .azimuth, .elevation: held = max(held, measurement.time)
    case .difference, .arrival, .odometry: break
    }
    if reference >= 0 {
      view.reference = anchors[reference].position
      view.referenceSlot = slot(reference, anchors)
      let last = slots[view.referenceSlot].time
      slots[view.referenceSlot].time = max(last, measurement.time)
    }
    return view
  }

  // MARK: slots

  /// Replaces the indices of anchors after a change of the site.
  ///
  /// A track with a moved anchor searches its place again: a wrong anchor has distorted the errors
  /// of the other anchors.
  ///
  /// - Parameters:
  ///   - successors: the new index of each anchor; nil for a removed one.
  ///   - moved: whether each anchor is at another place.
  mutating func renumber(anchors successors: [Int?], moved: [Bool]) {
    let isMoved = slots.contains { $0.anchor >= 0 && moved[$0.anchor] }
    for index in slots.indices where slots[index].anchor >= 0 {
      slots[index].anchor = successors[slots[index].anchor] ?? -1
    }
    // The stored measurements have the former indices, and perhaps former places, of anchors.
    recent = RecentMeasurements()
    if isMoved { forget() }
  }

  /// Returns the slot of an anchor: a new slot, or the slot of the anchor that has been silent
  /// longest.
  private mutating func slot(_ anchor: Int, _ anchors: [Anchor]) -> Int {
    for index in slots.indices where slots[index].anchor == anchor { return index }
    let own = anchors[anchor]
    let entry = Slot(anchor: anchor, place: own.position, time: -.infinity)
    var index = slots.firstIndex { $0.anchor < 0 } ?? slots.count
    if index == Self.mostSlots {
      index = slots.indices.min { slots[$0].time < slots[$1].time } ?? 0
    }
    if index < slots.count { slots[index] = entry } else { slots.append(entry) }
    makeRoom()
    begin(slot: index, own)
    return index
  }

  /// Sets the errors of the anchor in a slot to their prior.
  private mutating func begin(slot: Int, _ own: Anchor) {
    let constant =
      errors.pair * errors.pair + own.deviation * own.deviation
      + own.delayDeviation * own.delayDeviation
    for one in alternatives.indices {
      alternatives[one].begin(slot: slot, constant: constant, slow: slowVariance)
    }
    let sizes = errors.slowSizes * errors.slow
    scouts?.begin(slot: slot, constant: constant, slow: sizes * sizes)
  }

  /// Sets the variance that the arrivals of an anchor share.
  ///
  /// It is the error of a clock without synchronisation, which grows until the next frame and is
  /// gone after it. As noise, it would be averaged. The error that the anchor had before remains.
  private mutating func share(_ variance: Double?, of slot: Int) {
    let next = variance ?? 0
    guard next > 0 || slots[slot].clock != nil else { return }
    let filter = alternatives[leader].moving
    var clock =
      slots[slot].clock
      ?? ClockError(base: filter.error(constant: slot), own: filter.variance(constant: slot))
    let change = clock.change(to: next)
    for index in alternatives.indices { alternatives[index].change(slot: slot, change) }
    scouts?.change(slot: slot, change)
    slots[slot].clock = next > 0 ? clock : nil
  }

  /// Makes room for the anchors of all slots, four at a time.
  private mutating func makeRoom() {
    guard slots.count > room else { return }
    room = (slots.count + 3) / 4 * 4
    for one in alternatives.indices { alternatives[one].grow(slots: room) }
    scouts?.grow(slots: room)
  }

  // MARK: places

  /// Computes the first place from the measurements of the last second.
  private mutating func begin(_ anchors: [Anchor]) {
    if search.since == -.infinity { search.since = time }
    let isSlow = rhythm.interval > 0.4
    guard time >= search.next, isSlow || time - search.since >= 0.5 || rhythm.count >= 4 else {
      return
    }
    let window = recent.since(time - max(1, 2.5 * rhythm.interval), before: time)
    let found = TrackStart(window, anchors, height, errors).candidates()
    guard let first = window.first, !found.isEmpty else {
      search.next = time + max(0.5, rhythm.interval)
      return
    }
    slots.removeAll(keepingCapacity: true)
    let now = time
    let moved = models[models.count - 1].speed * min(1, now - first.time + 0.1)
    room = max(room, 4)
    alternatives = found.map { candidate in
      var filter = InteractingFilter(models, slots: room)
      var wide = candidate.spread.scaled(4)
      let lift = level.band == nil ? moved * moved : 0
      wide.add(Spread(xx: moved * moved, xy: 0, xz: 0, yy: moved * moved, yz: 0, zz: lift), 1)
      filter.restart(candidate.position, wide, isLevel: level.band != nil)
      filter.set(6, 0, variance: errors.delay * errors.delay)
      return filter
    }
    time = first.time
    var rest = window[...]
    while let measurement = rest.first {
      if measurement.time > time {
        predict(measurement.time - time, measurement.time)
        time = measurement.time
      }
      let count = Self.countOfRound(rest)
      if count == 1 {
        take(measurement, anchors)
      } else {
        _ = take(Array(rest.prefix(count)), anchors)
      }
      rest = rest.dropFirst(count)
    }
    if time < now { predict(now - time, now) }
    time = now
    balance = 0
    compare()
  }

  /// Returns the number of leading arrivals of the same round; 1 for other measurements.
  private static func countOfRound(_ window: ArraySlice<TagMeasurement>) -> Int {
    guard case .arrival(_, let round)? = window.first?.kind else { return 1 }
    return window.prefix {
      if case .arrival(_, round) = $0.kind { true } else { false }
    }.count
  }

  /// Discards alternatives that the measurements exclude, or that have merged with another
  /// alternative.
  private mutating func compare() {
    for index in alternatives.indices { alternatives[index].weigh() }
    let most = alternatives.map(\.evidence).max() ?? 0
    alternatives.removeAll { $0.evidence < most - Self.exclusion }
    alternatives.sort { $0.evidence > $1.evidence }
    var kept: [InteractingFilter] = []
    for one in alternatives {
      let place = one.estimate
      let reach = max(0.1, place.spread.axes.long.squareRoot())
      if !kept.contains(where: { ($0.estimate.position - place.position).length < reach }) {
        kept.append(one)
      }
    }
    alternatives = kept
  }

  /// Searches the place again, from the rejected measurements.
  private mutating func restart(_ anchors: [Anchor]) {
    forget()
    search.since = time - 1
    begin(anchors)
  }

  private mutating func forget() {
    alternatives.removeAll()
    scouts = nil
    balance = 0
    search = Search()
    slowVariance = errors.slow * errors.slow
  }

  /// The index of the most likely alternative.
  private var leader: Int {
    var best = 0
    for index in alternatives.indices.dropFirst()
    where alternatives[index].evidence > alternatives[best].evidence { best = index }
    return best
  }

  /// Forgets the place and the last measurements after an anchor has spoiled them.
  mutating func restart(without anchor: Int) {
    guard slots.contains(where: { $0.anchor == anchor }) else { return }
    recent = RecentMeasurements()
    forget()
  }

  // MARK: output

  /// The number of anchors of the last seconds beyond the coordinates that they have to determine.
  func surplus(_ isGood: (_ anchor: Int) -> Bool) -> Int {
    let anchors = slots.count {
      $0.anchor >= 0 && time - $0.time < Self.memory && isGood($0.anchor)
    }
    // Arrivals also have to determine the unknown time.
    return anchors - (level.band == nil ? 3 : 2) - (time - held > Self.memory ? 1 : 0)
  }

  /// Returns the variance of a place because of a wrong anchor, while it is not clear which anchor
  /// is wrong.
  ///
  /// The error of one of n ranges moves a place of m coordinates by m/n of it, and its residual is
  /// 1 - m/n of it.
  private func variance(of doubt: (_ anchor: Int) -> Double?) -> Double {
    var (worst, good) = (0.0, 0.0)
    for slot in slots where slot.anchor >= 0 && time - slot.time < Self.memory {
      guard let own = doubt(slot.anchor) else { continue }
      (worst, good) = (max(worst, own), good + 1)
    }
    guard worst > 0 else { return 0 }
    let surplus = Double(surplus { doubt($0) != nil })
    let moved = worst * (good - surplus) / max(0.5, surplus)
    return moved * moved
  }

  /// Returns the place at the time of the newest measurement.
  ///
  /// - Parameter doubt: the size of the residuals of an anchor in metres, if this or another anchor
  ///   is wrong; 0 for a good anchor, nil for an anchor that does not count.
  package mutating func answer(doubt: (_ anchor: Int) -> Double? = { _ in 0 }) -> Answer {
    guard isTracking else { return .searching }
    for index in alternatives.indices { alternatives[index].weigh() }
    let leader = leader
    let own = alternatives[leader]
    let (position, velocity, estimated) = own.estimate
    var spread = estimated.scaled(noise.factor)
    let wrong = variance(of: doubt)
    let lift = level.band == nil ? wrong : 0
    spread.add(Spread(xx: wrong, xy: 0, xz: 0, yy: wrong, yz: 0, zz: lift), 1)
    let place = TagPlace(
      time: time, position: position, velocity: velocity, spread: spread,
      motion: own.likeliest.kind, moving: own.second)
    for index in alternatives.indices where index != leader {
      let weight = Math.exp(alternatives[index].evidence - own.evidence)
      if weight > Self.doubt {
        return .refused(.ambiguous(or: alternatives[index].estimate.position), place)
      }
    }
    guard isReliable(estimated), isReliable(spread) else { return .refused(.uncertain, place) }
    return isHeld(place) ? .place(place) : .refused(.outside, place)
  }

  /// Returns whether a place is confirmed.
  ///
  /// A recent distance or direction confirms it, or it is within the hull of the received anchors.
  private func isHeld(_ place: TagPlace) -> Bool {
    guard time - held > Self.memory else { return true }
    let near = slots.lazy.filter { time - $0.time < Self.memory }.map(\.place)
    return AnchorHull.contains(place.position, near, margin: Self.margin)
  }

  /// Returns whether an ellipse describes the uncertainty of a place.
  ///
  /// Its long axis has to be short relative to the distance to the anchors. Circles around the
  /// anchors are nearly straight there. It has to be short without the learned noise as well:
  /// innovations do not show constant errors, which far from the anchors are most of the axis.
  private func isReliable(_ spread: Spread) -> Bool {
    spread.axes.long.squareRoot() < Self.widest
  }

  // MARK: state

  /// Saves the state without carrier, models and sizes of errors, which are rules of the site.
  private enum CodingKeys: CodingKey {
    case height, slots, room, alternatives, scouts, slowVariance, noise, recent, rhythm, time
    case search, balance, turn, held, round
  }

  /// Returns a saved track with the rules of this one; nil if it does not fit the anchors.
  func resumed(_ former: TagTrack, anchors count: Int) -> TagTrack? {
    var track = former
    (track.carrier, track.errors, track.models) = (carrier, errors, models)
    let hasPlaces = former.slots.allSatisfy { $0.anchor < count && $0.anchor >= -1 }
    guard hasPlaces, former.slots.count <= former.room, 0...Self.mostSlots ~= former.room,
      0...1000 ~= former.balance, former.time < .infinity, former.rhythm.isUsable,
      former.recent.isUsable(anchors: count)
    else { return nil }
    for index in track.alternatives.indices {
      guard track.alternatives[index].resume(models, slots: former.room) else { return nil }
    }
    guard former.scouts?.hasRoom(for: former.room) ?? true else { return nil }
    return track
  }
}
