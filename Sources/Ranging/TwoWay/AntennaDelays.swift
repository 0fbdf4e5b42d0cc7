// SPDX-License-Identifier: Apache-2.0

/// One antenna of a board, on one channel: what has an antenna delay of its own.
public struct AntennaPort: Sendable, Hashable {
  /// The UWB channel, 5 or 9 on most chips.
  public var channel: Int
  /// The antenna, as the board numbers them.
  public var antenna: Int

  /// From its parts.
  public init(channel: Int, antenna: Int = 0) {
    self.channel = channel
    self.antenna = antenna
  }
}

/// The antenna delays of one board: metres that each of its antennas adds to every distance, on each
/// channel. Sending and receiving together; a few centimetres differ between channels.
public struct AntennaDelays: Sendable, Hashable {
  private var metres: [AntennaPort: Double] = [:]

  /// Nothing known.
  public init() {}

  /// Metres that an antenna adds on a channel; nil where nothing is known. Values that are not
  /// finite are not taken.
  public subscript(port: AntennaPort) -> Double? {
    get { metres[port] }
    set {
      if let newValue, !newValue.isFinite { return }
      metres[port] = newValue
    }
  }

  /// The antennas and channels of which something is known.
  public var ports: [AntennaPort] {
    metres.keys.sorted { ($0.channel, $0.antenna) < ($1.channel, $1.antenna) }
  }
}

extension TwoWayParameters {
  /// These parameters for an exchange between two antennas, with the delays of both.
  ///
  /// - Returns: nil where the delay of one end is not known.
  public func with(
    _ own: AntennaDelays, _ ownPort: AntennaPort, _ peer: AntennaDelays, _ peerPort: AntennaPort
  ) -> TwoWayParameters? {
    guard let a = own[ownPort], let b = peer[peerPort] else { return nil }
    var result = self
    result.antennaDelay = a + b
    return result
  }
}
