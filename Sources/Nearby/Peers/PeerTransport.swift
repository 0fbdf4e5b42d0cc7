// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol

extension NINearbyPeers {
  /// How programs find and reach each other. Later versions may add cases, so a `switch` needs a default.
  public enum Transport: Sendable, Hashable {
    /// In the local network: UDP to 239.255.85.87, port 7701, and TCP.
    case network
    /// Over Bluetooth LE: each program advertises, and looks for others. Needs bluetoothd and libsystemd at
    /// run time, and an adapter for each program; nobody has to pair.
    ///
    /// - Parameter adapter: by name, as `hci0`, or address; nil: the first that can do both.
    case bluetooth(adapter: String? = nil)
  }
}

/// Finds programs, and carries messages to them.
protocol PeerTransport: AnyObject, Sendable {
  /// This program's number, which others know it by.
  var id: UInt64 { get }
  /// Whether others than programs of this machine can be reached.
  var hasNetwork: Bool { get }
  /// The connections of others, for one consumer. Ends with `close()`.
  var channels: AsyncStream<any DataChannel> { get }
  func connect(to id: UInt64) async throws(NIPeerError) -> any DataChannel
  /// Is not found any more, and finds nobody. Connections stay.
  func close()
  /// Ends what would stay when the program exits, too, and returns when it has ended.
  func end() async
}

/// What a transport says of a peer.
enum PeerSighting: Sendable {
  case found(id: UInt64, name: String)
  case lost(id: UInt64)
}
