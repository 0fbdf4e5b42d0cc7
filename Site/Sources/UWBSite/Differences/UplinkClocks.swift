// SPDX-License-Identifier: Apache-2.0

/// The clocks of all anchors of a site, and the arrivals of blinks by a common time.
///
/// Any anchor may be a reference. A blink uses the reference that compares its stamps best. The
/// clock of an anchor that does not receive this reference is compared over other references. Only
/// differences of times matter, so that another reference causes no jump.
package struct UplinkClocks: Sendable {
  private struct Pair: Hashable {
    var reference: Int
    var anchor: Int
  }

  /// A stamp of a blink at an anchor.
  package struct Stamp: Sendable, Hashable {
    package var anchor: Int
    package var received: UInt64
    /// The probability that the direct path is blocked.
    package var blocked: Double

    package init(anchor: Int, received: UInt64, blocked: Double = 0) {
      (self.anchor, self.received, self.blocked) = (anchor, received, blocked)
    }
  }

  /// The greatest delay of a signal on a detour, in metres.
  private static let longestDelay = 30.0
  /// The variance of a conversion in ticks² above which a path over other references is tried.
  private static let doubtfulVariance = 200.0
  /// The greatest number of references in a path, besides the common one.
  private static let mostHops = 3

  private let places: [SIMD3<Double>]
  private let noise: AnchorClock.Noise
  private var counters: [UnwrappedCounter]
  private var clocks: [Pair: AnchorClock] = [:]
  private var references: [Int] = []

  /// - Parameters:
  ///   - places: the places of the anchors in metres.
  ///   - bits: the width of stamps.
  package init(
    places: [SIMD3<Double>], bits: Int = 40, noise: AnchorClock.Noise = .init()
  ) {
    (self.places, self.noise) = (places, noise)
    counters = places.map { _ in UnwrappedCounter(bits: bits) }
  }

  /// Notes the width of an anchor's stamps.
  mutating func note(_ anchor: Int, bits: Int) {
    guard counters.indices.contains(anchor), counters[anchor].bits != bits else { return }
    counters[anchor] = UnwrappedCounter(bits: bits)
  }

  /// Adds a frame of synchronisation of a reference, received by an anchor.
  @discardableResult
  package mutating func addSync(
    from reference: Int, sent: UInt64, at anchor: Int, received: UInt64
  ) -> AnchorClock.Finding {
    guard reference != anchor, places.indices.contains(reference), places.indices.contains(anchor)
    else { return .rejected }
    if !references.contains(reference) { references.append(reference) }
    let flight = (places[anchor] - places[reference]).length / Ticks.metres
    return clocks[Pair(reference: reference, anchor: anchor), default: AnchorClock(noise: noise)]
      .add(
        sent: counters[reference].total(sent), received: counters[anchor].total(received),
        flight: flight)
  }

  /// Returns the arrivals of a blink by a common time; nil for fewer than two anchors.
  ///
  /// - Parameter waits: whether frames of synchronisation after the blink have arrived. Without
  ///   them, the clocks are predicted rather than interpolated.
  package mutating func arrivals(_ stamps: [Stamp], waits: Bool) -> Arrivals? {
    let totals = stamps.filter { places.indices.contains($0.anchor) }.map {
      (anchor: $0.anchor, ticks: counters[$0.anchor].total($0.received), blocked: $0.blocked)
    }
    var best: (root: Int, found: [Found], variance: Double)?
    for root in references {
      let found = totals.compactMap { stamp in
        time(of: stamp.ticks, at: stamp.anchor, by: root, waits).map {
          Found(anchor: stamp.anchor, time: $0, blocked: stamp.blocked)
        }
      }
      let variance =
        found.reduce(0) { $0 + $1.time.variance } / Double(max(1, found.count))
      let isBetter =
        best.map {
          found.count > $0.found.count || found.count == $0.found.count && variance < $0.variance
        } ?? true
      if isBetter { best = (root, found, variance) }
    }
    guard let best, let middle = middle(best.found) else { return nil }
    let agreeing = best.found.filter { isPossible($0, beside: middle) }
    guard agreeing.count > 1 else { return nil }
    var arrivals = entries(agreeing, after: middle.time, by: best.root)
    (arrivals.reference, arrivals.time) = (best.root, Double(middle.time.ticks) / Ticks.perSecond)
    return arrivals
  }

  /// Returns arrivals with their errors.
  ///
  /// A conversion that is worse than a stamp has an error that lasts for many blinks. Half of its
  /// variance comes from the clock of the reference. This part is the same in all conversions, so
  /// that it is an error of the reference against all other anchors.
  private func entries(_ found: [Found], after first: ReferenceTime, by root: Int) -> Arrivals {
    let stamp = noise.stamp * noise.stamp
    let lasting = found.map { max(0, $0.time.variance - stamp) }
    let others = max(1, found.count { $0.anchor != root })
    let common = lasting.reduce(0, +) / Double(others) / 2
    return Arrivals(
      zip(found, lasting).map { one, lasting in
        let noise = one.time.variance - lasting + stamp
        let shared = one.anchor == root ? common : lasting / 2
        return Arrivals.Entry(
          anchor: one.anchor, metres: one.time.after(first) * Ticks.metres,
          deviation: noise.squareRoot() * Ticks.metres, blocked: one.blocked,
          shared: shared * Ticks.metres * Ticks.metres)
      })
  }

  /// Returns the median arrival.
  private func middle(_ found: [Found]) -> Found? {
    guard let first = found.first else { return nil }
    let ordered = found.sorted { $0.time.after(first.time) < $1.time.after(first.time) }
    return ordered[ordered.count / 2]
  }

  /// Returns whether two arrivals can belong to one blink.
  ///
  /// Their times differ by at most the distance of the anchors and the delay of a late signal. This
  /// fails for an anchor that has just restarted.
  private func isPossible(_ one: Found, beside other: Found) -> Bool {
    let way = (places[one.anchor] - places[other.anchor]).length + Self.longestDelay
    return abs(one.time.after(other.time)) * Ticks.metres < way
  }

  private struct Found {
    var anchor: Int
    var time: ReferenceTime
    var blocked: Double
  }

  /// Returns whether each expected anchor has received a frame of synchronisation after a blink.
  mutating func isComplete(_ stamps: [Stamp], _ expected: [Int]) -> Bool {
    var moments: [(root: Int, ticks: Int64)] = []
    for root in references {
      for stamp in stamps {
        let ticks = counters[stamp.anchor].total(stamp.received)
        guard let time = time(of: ticks, at: stamp.anchor, by: root, false) else { continue }
        moments.append((root, time.ticks &+ Int64(time.part)))
        break
      }
    }
    return expected.allSatisfy { anchor in
      moments.contains { root, ticks in
        let newest = clocks[Pair(reference: root, anchor: anchor)]?.newestTime
        return (anchor == root ? counters[root].newest : newest) ?? .min > ticks
      }
    }
  }

  /// Returns a stamp by the clock of a reference, converted directly or over other references.
  ///
  /// The path with the least variance is used, even if it is longer.
  private func time(
    of ticks: Int64, at anchor: Int, by root: Int, _ waits: Bool, hops: Int = mostHops
  ) -> ReferenceTime? {
    if anchor == root { return ReferenceTime(ticks: ticks, part: 0, variance: 0) }
    var best = convert(ticks, Pair(reference: root, anchor: anchor), waits)
    guard hops > 0, best?.variance ?? .infinity > Self.doubtfulVariance else { return best }
    for other in references where other != root && other != anchor {
      guard let first = convert(ticks, Pair(reference: other, anchor: anchor), waits),
        first.variance < best?.variance ?? .infinity
      else { continue }
      // The fraction of a tick is so small that it is added without a conversion.
      let whole = Int64(first.part.rounded(.down))
      guard
        let second = time(of: first.ticks + whole, at: other, by: root, waits, hops: hops - 1)
      else { continue }
      let variance = first.variance + second.variance
      guard variance < best?.variance ?? .infinity else { continue }
      best = ReferenceTime(
        ticks: second.ticks, part: second.part + (first.part - Double(whole)), variance: variance)
    }
    return best
  }

  private func convert(_ ticks: Int64, _ pair: Pair, _ waits: Bool) -> ReferenceTime? {
    guard let clock = clocks[pair] else { return nil }
    return waits ? clock.interpolated(ticks) ?? clock.time(of: ticks) : clock.time(of: ticks)
  }
}
