// SPDX-License-Identifier: Apache-2.0

/// One antenna of a board on one channel; each such pair has an antenna delay of its own.
package struct AntennaPort: Sendable, Hashable {
  /// The UWB channel, 5 or 9 on most chips.
  package var channel: Int
  /// The antenna, as the board numbers them.
  package var antenna: Int

  /// Creates a port.
  package init(channel: Int, antenna: Int = 0) {
    self.channel = channel
    self.antenna = antenna
  }
}

/// An antenna of one of several boards.
package struct BoardAntenna: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name of the board.
  package var board: String
  /// The antenna and its channel.
  package var port: AntennaPort

  /// Creates a value for one antenna.
  package init(_ board: String, channel: Int = 9, antenna: Int = 0) {
    self.board = board
    port = AntennaPort(channel: channel, antenna: antenna)
  }

  /// Sorts by board, channel and antenna.
  package static func < (a: Self, b: Self) -> Bool {
    (a.board, a.port.channel, a.port.antenna) < (b.board, b.port.channel, b.port.antenna)
  }

  /// The name as text.
  package var description: String {
    "\(board) antenna \(port.antenna) channel \(port.channel)"
  }
}
