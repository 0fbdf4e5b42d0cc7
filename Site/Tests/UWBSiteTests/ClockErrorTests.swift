// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

/// The errors of clocks without synchronisation, in stamps and in the state of a track.
@Suite struct ClockErrorTests {
  /// A filter with a learned error of an anchor.
  private func filter() -> JointFilter {
    var filter = JointFilter(slots: 4)
    filter.begin(slot: 2, constant: 0.01, slow: 0)
    filter.set(12, 0.1, variance: 0.0025)
    return filter
  }

  @Test("The variance of a clock is added to the learned error of its anchor")
  func growth() {
    var filter = filter()
    var clock = ClockError(base: 0.1, own: 0.0025)
    for next in [0.01, 0.04, 0.25, 1] {
      filter.change(slot: 2, clock.change(to: next))
      #expect(abs(filter.variance(constant: 2) - 0.0025 - next) < 1e-9)
      #expect(filter.error(constant: 2) == 0.1)
    }
  }

  @Test("An error of a clock continues as it began, and is gone after the next synchronisation")
  func extrapolation() {
    var filter = filter()
    var clock = ClockError(base: 0.1, own: 0.0025)
    filter.change(slot: 2, clock.change(to: 0.25))
    // A measurement has revealed most of the error.
    filter.set(12, 0.6, variance: 0.0025)
    filter.change(slot: 2, clock.change(to: 0.36))
    #expect(0.65..<0.7 ~= filter.error(constant: 2), "\(filter.error(constant: 2))")
    filter.change(slot: 2, clock.change(to: 0))
    #expect(abs(filter.error(constant: 2) - 0.1) < 0.01, "\(filter.error(constant: 2))")
    #expect(filter.variance(constant: 2) < 0.003)
  }

  @Test("Synchronisation that returns without measurements changes nothing")
  func restored() {
    var filter = filter()
    var clock = ClockError(base: 0.1, own: 0.0025)
    filter.change(slot: 2, clock.change(to: 0.5))
    filter.change(slot: 2, clock.change(to: 0))
    #expect(abs(filter.variance(constant: 2) - 0.0025) < 1e-12)
  }

  @Test("Errors of predicted arrivals are as large as stated, with the reference's clock, too")
  func predictedArrivals() {
    var (reference, others): ([Double], [Double]) = ([], [])
    for seed: UInt64 in 401...440 {
      var scenario = UplinkScenario()
      (scenario.seed, scenario.seconds) = (seed, 8)
      scenario.isSending = { _, time in time < 6 }
      var clocks = UplinkClocks(places: UplinkScenario.anchors)
      scenario.run { now, event in
        switch event {
        case .sync(let from, let sent, let received):
          for one in received {
            clocks.addSync(from: from, sent: sent, at: one.anchor, received: one.stamp)
          }
        case .blink(let place, let stamps):
          guard now > 7.5, let entries = clocks.arrivals(stamps, waits: true)?.entries else {
            return
          }
          func scaled(_ one: Arrivals.Entry, _ other: Arrivals.Entry) -> Double {
            let arms = [one, other].map { (place - UplinkScenario.anchors[$0.anchor]).length }
            return (one.metres - other.metres - arms[0] + arms[1])
              / (one.variance + other.variance).squareRoot()
          }
          for one in entries.dropFirst(2) {
            reference.append(scaled(one, entries[0]))
            others.append(scaled(one, entries[1]))
          }
        }
      }
    }
    func rms(_ all: [Double]) -> Double {
      (all.reduce(0) { $0 + $1 * $1 } / Double(all.count)).squareRoot()
    }
    #expect(others.count > 900)
    #expect(0.8...1.2 ~= rms(reference) && 0.8...1.2 ~= rms(others), "\(rms(reference))")
  }
}
