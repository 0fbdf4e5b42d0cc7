// SPDX-License-Identifier: Apache-2.0

import UCI
import UCIReference

extension RangeSummary {
  /// The number of each failure, the most frequent first.
  var failures: [(status: Status, count: Int)] {
    var counts: [Status: Int] = [:]
    for peer in peers.values { counts.merge(peer.failures) { $0 + $1 } }
    return counts.map { (status: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.status.rawValue) < ($0.count, $1.status.rawValue) }
  }

  /// Explains the two most frequent failures; empty when at most every tenth measurement failed,
  /// because lost rounds are normal.
  func failuresExplained(in dialect: Dialect) -> String {
    guard failed * 10 > measured else { return "" }
    return failures.prefix(2).map { status, count in
      let raw = "0x\(hexDigits(status.rawValue).uppercased())"
      let rounds = count == 1 ? "1 measurement" : "\(count) measurements"
      guard let known = status.explained(in: dialect) else {
        return "\(rounds): \(status) (\(raw)), which is not documented.\n"
      }
      return "\(rounds): \(known.name) (\(raw)). \(known.meaning)\n" + known.listed(indent: "  ")
    }.joined()
  }
}
