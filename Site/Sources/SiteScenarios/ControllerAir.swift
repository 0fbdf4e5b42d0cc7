// SPDX-License-Identifier: Apache-2.0

import Foundation
package import UWBSite

/// Simulates controllers with their own clocks on one channel. Overlapping rounds are lost.
package struct ControllerAir {
  /// The way in which the sessions are started.
  package enum Start: Sendable { case kept, once, unplanned }

  package struct Result: Sendable, Hashable {
    package var rounds = 0
    package var lost = 0
    package var restarts = 0
    /// The number of blocks without a round because of a restart of the session.
    package var missed = 0
  }

  /// The clock of a chip: an offset, a rate, and a slow swing of the rate.
  private struct Chip {
    let origin: Double
    let rate: Double
    let swing: Double

    func reading(at time: Double) -> Double {
      origin + time * (1 + rate) + swing * 100 * (1 - cos(time / 100))
    }

    /// Returns the time at which the clock shows a reading.
    func time(of reading: Double) -> Double {
      var time = reading - origin
      for _ in 0..<6 { time += reading - self.reading(at: time) }
      return time
    }
  }

  private let schedule: ControllerSchedule
  private var chips: [String: Chip] = [:]
  private var random: SplitMix64
  /// The first reading of each session, and its end by the host's time.
  private var runs: [(session: ControllerSchedule.Session, reading: Double, end: Double)] = []

  package init(_ schedule: ControllerSchedule, seed: UInt64) {
    self.schedule = schedule
    random = SplitMix64(seed: seed)
    for session in schedule.sessions where chips[session.controller] == nil {
      chips[session.controller] = Chip(
        origin: 1000 * random.uniform(), rate: 20e-6 * (2 * random.uniform() - 1), swing: 0.5e-6)
    }
  }

  /// Runs for some seconds. The first ten seconds are not counted.
  package mutating func run(_ start: Start, seconds: Double) -> Result {
    var keeper = RoundKeeper(schedule)
    var now = 0.0
    runs = []
    while now < seconds {
      let (orders, next) = keeper.orders(at: now)
      for order in orders { now = carryOut(order, &keeper, now, start) }
      now = max(now + 0.01, min(next, seconds))
      if start != .kept, !runs.isEmpty, runs.count == schedule.sessions.count { break }
    }
    var result = count(from: 10, to: seconds)
    result.restarts = keeper.restarts
    return result
  }

  /// Carries out an order, which takes as long as a question over USB; returns the time afterwards.
  private mutating func carryOut(
    _ order: RoundKeeper.Order, _ keeper: inout RoundKeeper, _ now: Double, _ start: Start
  ) -> Double {
    let took = 0.0005 + 0.002 * random.uniform()
    switch order {
    case .ask(let name):
      guard let chip = chips[name] else { return now }
      let reading = chip.reading(at: now + took * (0.3 + 0.4 * random.uniform()))
      keeper.answer(name, asked: now, answered: now + took, reading: UInt64(1e6 * reading))
    case .start(let id, let name, let reading, _):
      guard let session = schedule.sessions.first(where: { $0.id == id }), let chip = chips[name]
      else { return now }
      var first = reading.map { Double($0) / 1e6 } ?? chip.reading(at: now + took)
      if start == .unplanned { first += schedule.block * random.uniform() }
      if let last = runs.lastIndex(where: { $0.session.id == id && $0.end == .infinity }) {
        runs[last].end = min(now, chip.time(of: first))
      }
      runs.append((session, first, .infinity))
    }
    return now + took
  }

  private func count(from begin: Double, to end: Double) -> Result {
    var rounds: [(start: Double, end: Double)] = []
    for run in runs {
      guard let chip = chips[run.session.controller] else { continue }
      for block in 0..<Int((end - begin) / schedule.block + 100) {
        let reading = run.reading + Double(block) * schedule.block
        let start = chip.time(of: reading)
        guard start + run.session.length <= min(end, run.end) else { break }
        if start >= begin { rounds.append((start, chip.time(of: reading + run.session.length))) }
      }
    }
    rounds.sort { $0.start < $1.start }
    var result = Result(rounds: rounds.count)
    let expected = Double(schedule.sessions.count) * (end - begin) / schedule.block
    result.missed = max(0, Int(expected.rounded()) - rounds.count)
    var latest = -Double.infinity
    for (index, round) in rounds.enumerated() {
      let isFree =
        latest <= round.start
        && (index + 1 == rounds.count || rounds[index + 1].start >= round.end)
      if !isFree { result.lost += 1 }
      latest = max(latest, round.end)
    }
    return result
  }
}
