// SPDX-License-Identifier: Apache-2.0
package import System
package import Ranging
internal import UCI

/// Reports when the peers of a session enter and leave regions. A peer that is no longer measured
/// leaves after the time of the rules, even if the chip reports no failed rounds or has failed
/// itself.
package final class RegionWatch: Sendable {
  /// A callback that receives each change with the measurement of its distance, in order and one at
  /// a time. No lock is held during the call.
  package typealias Report = @Sendable (RegionChange, EstimatedMeasurement) -> Void

  private struct Peer {
    var tracker: RegionTracker
    var measurement: EstimatedMeasurement
  }
  private struct State {
    var peers: [MACAddress: Peer] = [:]
    /// The timer for the absence of peers; nil while no peer is in a region.
    var timer: OneShotTimer?
    var isEnded = false
    /// The changes that are not yet reported.
    var changes: [(RegionChange, EstimatedMeasurement)] = []
    var isReporting = false

    mutating func add(_ changes: [RegionChange], _ measurement: EstimatedMeasurement) {
      self.changes += changes.map { ($0, measurement) }
    }

    /// The addresses of all peers in a fixed order.
    var addresses: [MACAddress] { peers.keys.sorted { $0.value < $1.value } }
  }

  private let rules: RegionRules
  private let report: Report
  private let clock: AlarmClock
  private let start: UInt64
  private let state = Locked(State())
  private let allReported = Latch()

  package init(_ rules: RegionRules, clock: AlarmClock = .system, _ report: @escaping Report) {
    (self.rules, self.clock, self.report) = (rules, clock, report)
    start = clock.now()
  }

  /// Updates the regions of a peer, and reports the changes.
  package func update(_ measurement: EstimatedMeasurement) {
    change { state, now in
      guard measurement.distance != nil, let estimate = measurement.track else { return }
      var peer =
        state.peers[measurement.peer]
        ?? Peer(tracker: RegionTracker(rules), measurement: measurement)
      peer.measurement = measurement
      state.add(peer.tracker.update(estimate, at: now), measurement)
      state.peers[measurement.peer] = peer
    }
  }

  /// Ends ranging: all peers leave. Returns when the last change has been reported.
  package func end() async {
    change { state, now in
      for address in state.addresses {
        guard var peer = state.peers[address] else { continue }
        state.add(peer.tracker.end(at: now), peer.measurement)
      }
      state.peers = [:]
      state.isEnded = true
    }
    await allReported.wait()
  }

  /// Advances the time, so that silent peers leave.
  private func advance() {
    change { state, now in
      state.timer = nil
      for address in state.addresses {
        guard let changes = state.peers[address]?.tracker.advance(to: now),
          let peer = state.peers[address]
        else { continue }
        state.add(changes, peer.measurement)
      }
    }
  }

  /// Changes the state unless the watch has ended, and reports the changes.
  ///
  /// - Parameter body: receives the seconds since the watch was created.
  private func change(_ body: (inout State, _ now: Double) -> Void) {
    state.withLock { state in
      guard !state.isEnded else { return }
      let now = Double(clock.now() - start) * 1e-9
      body(&state, now)
      let deadline = state.peers.values.lazy.compactMap(\.tracker.deadline).min()
      if let deadline, state.timer == nil {
        // The timer starts a task, because a callback may take long and must not block the queue of
        // timers.
        state.timer = clock.timer(.seconds(max(0.001, deadline - now))) { [weak self] in
          Task { [weak self] in self?.advance() }
        }
      } else if deadline == nil {
        state.timer = nil
      }
    }
    while let (change, measurement) = state.withLock({ nextReport(&$0) }) {
      report(change, measurement)
      state.withLock { $0.isReporting = false }
    }
  }

  /// Returns the next change to report; nil while another thread reports, which will also report
  /// this one.
  private func nextReport(_ state: inout State) -> (RegionChange, EstimatedMeasurement)? {
    guard !state.isReporting else { return nil }
    guard !state.changes.isEmpty else {
      if state.isEnded { allReported.open() }
      return nil
    }
    state.isReporting = true
    return state.changes.removeFirst()
  }
}
