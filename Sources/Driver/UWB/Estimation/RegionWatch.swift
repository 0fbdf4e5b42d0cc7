// SPDX-License-Identifier: Apache-2.0
internal import System
package import Ranging
internal import UCI

/// Follows the peers of a session into and out of regions. A peer that is no longer measured leaves
/// in time, also where the chip reports no failed rounds, or has itself failed.
package final class RegionWatch: Sendable {
  /// A callback that receives each change with the measurement of its distance, in order. It must
  /// neither block nor call the watch.
  package typealias Report = @Sendable (RegionChange, EstimatedMeasurement) -> Void

  private struct Peer {
    var tracker: RegionTracker
    var measurement: EstimatedMeasurement
  }
  private struct State {
    var peers: [MACAddress: Peer] = [:]
    var timer: Task<Void, Never>?
    var isEnded = false
  }

  private let rules: RegionRules
  private let report: Report
  private let start = SuspendingClock.now
  private let state = Locked(State())

  package init(_ rules: RegionRules, _ report: @escaping Report) {
    (self.rules, self.report) = (rules, report)
  }

  package func take(_ measurement: EstimatedMeasurement) {
    let now = now
    state.withLock { state in
      guard !state.isEnded else { return }
      if measurement.distance != nil, let estimate = measurement.track {
        var peer =
          state.peers[measurement.peer]
          ?? Peer(tracker: RegionTracker(rules), measurement: measurement)
        peer.measurement = measurement
        for change in peer.tracker.update(estimate, at: now) { report(change, measurement) }
        state.peers[measurement.peer] = peer
      }
      if state.timer == nil, deadline(state) != nil { state.timer = Task { await wait() } }
    }
  }

  /// Ends ranging: all peers leave.
  package func end() {
    let now = now
    state.withLock { state in
      state.isEnded = true
      state.timer?.cancel()
      for address in state.peers.keys.sorted(by: { $0.value < $1.value }) {
        guard var peer = state.peers[address] else { continue }
        for change in peer.tracker.end(at: now) { report(change, peer.measurement) }
      }
      state.peers = [:]
    }
  }

  /// Seconds since the start.
  private var now: Double { start.duration(to: .now) / .seconds(1) }

  private func deadline(_ state: State) -> Double? {
    state.peers.values.lazy.compactMap(\.tracker.deadline).min()
  }

  /// Waits for the silence of peers as long as one is in a region.
  private func wait() async {
    while let next = state.withLock({ next(&$0) }) {
      do { try await Task.sleep(for: .seconds(max(0.001, next - now)), clock: .suspending) } catch {
        return
      }
    }
  }

  /// Removes silent peers, and returns when the next one may have to leave.
  private func next(_ state: inout State) -> Double? {
    guard !state.isEnded else { return nil }
    let now = now
    for address in state.peers.keys.sorted(by: { $0.value < $1.value }) {
      for change in state.peers[address]?.tracker.advance(to: now) ?? [] {
        if let peer = state.peers[address] { report(change, peer.measurement) }
      }
    }
    let next = deadline(state)
    if next == nil { state.timer = nil }
    return next
  }
}
