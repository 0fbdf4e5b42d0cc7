// SPDX-License-Identifier: Apache-2.0

/// The states of peers by their names. Peers without a row for the longest time are removed. An
/// endless table with ever new peers then takes a limited amount of memory.
struct RecentPeers<State> {
  private let limit: Int
  private var recent: [String: State] = [:]
  /// The states of peers that may be removed next. A peer with another row becomes recent again.
  private var earlier: [String: State] = [:]

  /// - Parameter limit: the least number of peers to keep. At most twice as many are kept.
  init(limit: Int = 5000) { self.limit = limit }

  /// Updates the state of a peer.
  ///
  /// - Parameter first: the state of a new or removed peer.
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
