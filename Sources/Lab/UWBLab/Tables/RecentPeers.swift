// SPDX-License-Identifier: Apache-2.0

/// The states of peers by their names. In an endless table, the peers without a row for longest are
/// forgotten, so that ever new peers take a bounded amount of memory.
struct RecentPeers<State> {
  private let limit: Int
  private var recent: [String: State] = [:]
  /// The peers before. A peer that has a row again becomes recent.
  private var earlier: [String: State] = [:]

  /// - Parameter limit: the least number of peers to keep; at most twice as many are kept.
  init(limit: Int = 5000) { self.limit = limit }

  /// Updates the state of a peer.
  ///
  /// - Parameter first: the state of a new or forgotten peer.
  mutating func update<Result>(
    _ peer: String, from first: @autoclosure () -> State, _ body: (inout State) -> Result
  ) -> Result {
    if recent[peer] == nil {
      let known = earlier.removeValue(forKey: peer)
      if recent.count >= limit { (recent, earlier) = ([:], recent) }
      recent[peer] = known
    }
    return body(&recent[peer, default: first()])
  }
}
