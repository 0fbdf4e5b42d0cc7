// SPDX-License-Identifier: Apache-2.0

/// One antenna of a board on one channel; each such pair has an antenna delay of its own.
public struct AntennaPort: Sendable, Hashable {
  /// The UWB channel, 5 or 9 on most chips.
  public var channel: Int
  /// The antenna, as the board numbers them.
  public var antenna: Int

  /// Creates a port.
  public init(channel: Int, antenna: Int = 0) {
    self.channel = channel
    self.antenna = antenna
  }
}

/// The antenna delays of one board: metres that each of its antennas adds to every distance on each
/// channel, sending and receiving together. Channels differ by a few centimetres.
public struct AntennaDelays: Sendable, Hashable {
  private var metres: [AntennaPort: Double] = [:]

  /// Creates an empty collection.
  public init() {}

  /// Metres that an antenna adds on a channel; nil if unknown. Ignores values that are not finite.
  public subscript(port: AntennaPort) -> Double? {
    get { metres[port] }
    set {
      if let newValue, !newValue.isFinite { return }
      metres[port] = newValue
    }
  }

  /// The antennas and channels whose delay is known.
  package var ports: [AntennaPort] {
    metres.keys.sorted { ($0.channel, $0.antenna) < ($1.channel, $1.antenna) }
  }
}

extension TwoWayParameters {
  /// Returns these parameters with the antenna delays of both ends of an exchange; nil if one of them
  /// is unknown.
  public func with(
    _ own: AntennaDelays, _ ownPort: AntennaPort, _ peer: AntennaDelays, _ peerPort: AntennaPort
  ) -> TwoWayParameters? {
    guard let a = own[ownPort], let b = peer[peerPort] else { return nil }
    var result = self
    result.antennaDelay = a + b
    return result
  }
}
