// SPDX-License-Identifier: Apache-2.0

/// Simulates sessions on one channel without a common schedule: overlapping rounds are lost.
///
/// Clocks differ by up to 20 ppm. A hopping session chooses one of the rounds of each block by a
/// number that depends on the block.
package struct AirSimulation: Sendable {
  package var sessions: Int
  /// The duration of a round in seconds.
  package var round: Double
  package var block: Double
  package var isHopping: Bool

  package init(sessions: Int, round: Double, block: Double, isHopping: Bool) {
    (self.sessions, self.round, self.block, self.isHopping) = (sessions, round, block, isHopping)
  }

  private struct Clock {
    let phase: Double
    let rate: Double
    let id: UInt64
  }

  /// Returns the part of the rounds that succeed, by session.
  package func run(blocks: Int, seed: UInt64) -> [Double] {
    var random = SplitMix64(seed: seed)
    let clocks = (0..<sessions).map { _ in
      Clock(
        phase: random.uniform() * block,
        rate: 1 + Plan.drift * 1e-6 * (2 * random.uniform() - 1), id: random.next())
    }
    var rounds: [(start: Double, session: Int)] = []
    for (session, clock) in clocks.enumerated() {
      for number in 0..<blocks {
        rounds.append((start(clock, number), session))
      }
    }
    rounds.sort { $0.start < $1.start }
    return succeeded(rounds).map { Double($0) / Double(blocks) }
  }

  private func start(_ clock: Clock, _ number: Int) -> Double {
    let count = UInt64(max(1, Int(block / round)))
    var random = SplitMix64(seed: clock.id &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
    let index = isHopping && number > 0 ? random.next() % count : 0
    return (clock.phase + Double(number) * block + Double(index) * round) * clock.rate
  }

  /// Counts the rounds that overlap neither the round before nor the round after.
  private func succeeded(_ rounds: [(start: Double, session: Int)]) -> [Int] {
    var counts = Array(repeating: 0, count: sessions)
    var before = -Double.infinity
    for (index, item) in rounds.enumerated() {
      let after = index + 1 < rounds.count ? rounds[index + 1].start : .infinity
      if item.start - before >= round && after - item.start >= round { counts[item.session] += 1 }
      before = item.start
    }
    return counts
  }
}
