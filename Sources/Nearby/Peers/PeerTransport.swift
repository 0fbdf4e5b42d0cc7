// SPDX-License-Identifier: Apache-2.0
internal import Channels

extension NINearbyPeers {
  /// A way for programs to find and reach each other. Later versions may add cases, so a `switch`
  /// needs a default.
  public enum Transport: Sendable, Hashable {
    /// The local network: UDP to 239.255.85.87, port 7701, and TCP.
    case network
    /// Bluetooth LE: each program advertises, and scans for others. It needs bluetoothd and
    /// libsystemd at run time, and an adapter for each program. Pairing is not needed.
    ///
    /// - Parameter adapter: the name, such as `hci0`, or the address; nil for the first adapter
    ///   that can advertise and scan.
    case bluetooth(adapter: String? = nil)
  }
}

/// A transport that finds programs, and carries messages to them.
protocol PeerTransport: AnyObject, Sendable {
  /// The number that identifies this program to others.
  var id: UInt64 { get }
  /// Whether programs of other machines can be reached.
  var hasNetwork: Bool { get }
  /// The connections from other programs, for one consumer. The stream ends with `close()`.
  var arrivals: AsyncStream<PeerArrival> { get }
  func connect(to id: UInt64) async throws(NIPeerError) -> any DataChannel
  /// Stops advertising and browsing. Connections stay open.
  func close()
  /// Stops advertising and browsing, ends connections that would outlast the program, and waits for
  /// their end.
  func end() async
}

/// A connection from a program on another machine.
struct PeerArrival: Sendable {
  let channel: any DataChannel
  /// The address of the other machine, by which its connections are counted.
  let address: String
}

/// The discovery or the loss of a peer.
enum PeerSighting: Sendable {
  case found(id: UInt64, name: String)
  case lost(id: UInt64)
}
