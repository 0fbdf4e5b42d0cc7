// SPDX-License-Identifier: Apache-2.0

internal import Varlink

/// The chips that a service `org.swift-uwb.Chips` shares.
struct ChipService: LiveSource {
  /// The socket of a service that the system has started.
  static let usualPath = "/run/uwbd/control"
  /// Requests all measurements with their origin. For a slow client, the service drops the oldest
  /// measurements and counts them.
  private static let parameters =
    #"{"keep": "all", "queue": 10000, "nulls": false, "identity": true, "events": true, "#
    + #""one_way": true}"#

  let path: String
  let board: String?
  let names: SiteNames

  func run(_ port: SourcePort) { port.keep { port.wait { await watch(port) } } }

  /// Sends the measurements of one connection.
  private func watch(_ port: SourcePort) async -> AttemptEnd {
    var (replies, hasWorked) = (ChipReplies(board: board, names), false)
    do {
      let client = try await VarlinkClient.connect(to: path)
      defer { client.close() }
      let stream = client.replies(
        to: "org.swift-uwb.Chips.Monitor", Array(Self.parameters.utf8))
      for try await reply in stream {
        port.send(replies.items(reply))
        hasWorked = true
      }
      return AttemptEnd(reason: "the service has ended the measurements", hasWorked: hasWorked)
    } catch { return AttemptEnd(reason: "\(error)", hasWorked: hasWorked) }
  }
}
