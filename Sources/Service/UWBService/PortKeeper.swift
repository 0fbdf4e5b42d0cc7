// SPDX-License-Identifier: Apache-2.0

/// Keeps the ports of chips open when the service crashes. A closed port may reset a board.
package protocol PortKeeper: Sendable {
  /// Keeps the port that this process has open at a path, in place of the previous port of the same
  /// name. Blocks.
  func keep(_ path: String, as name: String)
  /// Drops a port that the service has closed.
  func drop(_ name: String)
}

extension PortKeeper {
  /// The prefix of the names of ports.
  package static var prefix: String { "chip" }
}
