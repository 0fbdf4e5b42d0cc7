// SPDX-License-Identifier: Apache-2.0

/// An antenna of a board, on one channel: the antenna delay differs between channels.
package struct AntennaPort: Sendable, Hashable {
  /// The UWB channel, 5 or 9 on most chips.
  package var channel: Int
  /// The number of the antenna on the board.
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

  /// Creates an antenna of the named board.
  package init(_ board: String, channel: Int = 9, antenna: Int = 0) {
    self.board = board
    port = AntennaPort(channel: channel, antenna: antenna)
  }

  /// Sorts by board, channel and antenna.
  package static func < (a: Self, b: Self) -> Bool {
    (a.board, a.port.channel, a.port.antenna) < (b.board, b.port.channel, b.port.antenna)
  }

  /// The board, the antenna and the channel as text.
  package var description: String {
    "\(board) antenna \(port.antenna) channel \(port.channel)"
  }
}
