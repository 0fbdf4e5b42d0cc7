// SPDX-License-Identifier: Apache-2.0

extension Engine {
  /// The learned values of an engine: tracks with their errors, and residuals of anchors.
  ///
  /// The clocks of sources are omitted: the next start may have other sources.
  package struct State: Sendable, Codable {
    fileprivate var followers: [Follower]
    fileprivate var watches: [AnchorWatch]
    fileprivate var unknown: [String]
    /// The time of the newest measurement; nil before the first measurement.
    fileprivate var newest: Double?
  }

  package var state: State {
    State(
      followers: followers, watches: watches, unknown: unknown.sorted(),
      newest: newest.isFinite ? newest : nil)
  }

  /// Continues from a saved state. The engine is of the same site, and has no measurements yet.
  ///
  /// - Returns: false if the state does not fit; the engine is unchanged then.
  package mutating func resume(_ state: State) -> Bool {
    guard state.followers.count == tags.count, state.watches.count == anchors.count,
      state.unknown.count <= Self.mostUnknown, state.newest.map(Self.isTime) ?? true
    else { return false }
    var next = followers
    for (index, follower) in state.followers.enumerated() {
      guard
        let track = followers[index].track.resumed(follower.track, anchors: anchors.count)
      else { return false }
      next[index] = follower
      next[index].track = track
      next[index].isListed = follower.isChanged
    }
    (followers, watches, unknown) = (next, state.watches, Set(state.unknown))
    newest = state.newest ?? newest
    changed = followers.indices.filter { followers[$0].isListed }
    return true
  }

  /// Returns whether a number may be a time in seconds.
  private static func isTime(_ time: Double) -> Bool { abs(time) < 1e12 }
}
