// SPDX-License-Identifier: Apache-2.0

/// The rounds of many controllers in a repeating block, with gaps for the drift of their clocks.
///
/// Each controller counts blocks by its own crystal. Before a session is started again, its rounds
/// move by at most half a gap, so that rounds never overlap.
package struct ControllerSchedule: Sendable, Hashable {
  /// A session of one controller, with one round in each block.
  package struct Session: Sendable, Hashable {
    package let id: UInt32
    /// The name of the controller.
    package let controller: String
    /// Seconds from the start of a block to the round.
    package let start: Double
    /// The length of the round in seconds.
    package let length: Double

    package init(id: UInt32, controller: String, start: Double, length: Double) {
      (self.id, self.controller, self.start, self.length) = (id, controller, start, length)
    }
  }

  /// The least gap in seconds: a chip starts within half a millisecond of its initiation time.
  package static let leastGap = 0.001

  /// The length of a block in seconds, in whole milliseconds.
  package let block: Double
  package let sessions: [Session]
  /// Seconds between the end of a round and the start of the next one.
  package let gap: Double

  package init(block: Double, gap: Double, sessions: [Session]) {
    (self.block, self.gap, self.sessions) = (block, gap, sessions)
  }

  /// Distributes the free time of a plan as equal gaps between rounds.
  ///
  /// - Parameter names: Returns the name of a controller of the plan.
  package init(_ plan: Plan, _ names: (String) -> String = { $0 }) throws(PlanRefusal) {
    let whole = (1000 * plan.block).rounded(.down) / 1000
    let slot = plan.request.slot
    let used = Double(plan.rounds.reduce(0) { $0 + $1.slots }) * slot
    let gap = (whole - used) / Double(max(1, plan.rounds.count))
    guard gap >= Self.leastGap || plan.rounds.count == 1 else {
      throw PlanRefusal(
        description: """
          \(plan.rounds.count) rounds leave \(Plan.text(1000 * max(0, gap))) ms between two of them; \
          controllers with clocks of their own need \(Plan.text(1000 * Self.leastGap)) ms
          """)
    }
    self.gap = gap
    block = whole
    var start = 0.0
    sessions = plan.rounds.enumerated().map { index, round in
      defer { start += Double(round.slots) * slot + gap }
      // Times are whole microseconds, as chips count.
      return Session(
        id: Self.firstID + UInt32(index), controller: names(round.controller),
        start: (1e6 * start).rounded() / 1e6, length: Double(round.slots) * slot)
    }
  }

  /// The id of the first session. The next sessions have the following ids.
  package static let firstID: UInt32 = 1000

  /// The seconds after which sessions have to be started again, for clocks of ± 20 ppm.
  package var holdTime: Double { gap / 2 / (Plan.drift * 1e-6) }

  /// Returns the first start of a round of a session at or after a time. Blocks begin at 0.
  package func start(of session: Session, notBefore time: Double) -> Double {
    let blocks = ((time - session.start) / block).rounded(.up)
    return session.start + blocks * block
  }
}
