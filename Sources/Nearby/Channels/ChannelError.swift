// SPDX-License-Identifier: Apache-2.0
package import Bluetooth
public import FoundationEssentials
package import SystemPackage

/// An error of a data channel.
public struct ChannelError: LocalizedError, Sendable, Hashable {
  /// The kinds of failure. Later versions may add more, so a `switch` needs a default.
  public struct Code: Sendable, Hashable {
    fileprivate let name: String

    /// The channel has ended. In an event of an accessory, the accessory closed it.
    public static let closed = Code(name: "closed")
    /// The channel failed, or the peer does not read, reads too slowly or sends no valid frames.
    public static let failed = Code(name: "failed")
    /// A message that does not fit into a frame.
    public static let invalidMessage = Code(name: "invalidMessage")
    /// Text that is not a channel endpoint.
    public static let invalidEndpoint = Code(name: "invalidEndpoint")
    /// A system call failed, or a host name has no address.
    public static let system = Code(name: "system")
    /// Bluetooth is not available, or failed.
    public static let bluetooth = Code(name: "bluetooth")
  }

  /// The exact failure.
  package enum Reason: Sendable, Hashable {
    case closed
    case closedHere(String)
    case messageSize(bytes: Int, limit: Int)
    /// A received message.
    case messageTooLong(bytes: Int, limit: Int)
    case invalidFraming(String)
    case peerNotReading
    case receiveOverflow
    /// The number of received messages for which there was no room.
    case messagesLost(Int)
    case stream(String)
    case invalidEndpoint(String, reason: String)
    case unresolvedHost(String)
    case system(Errno, endpoint: String)
    case bluetooth(BluetoothError)
    case notPaired(String)
    case otherConfiguration(String)
  }
  package let reason: Reason

  package init(_ reason: Reason) { self.reason = reason }

  /// The error of a channel that has ended, for types that conform to `DataChannel`.
  public static let closed = ChannelError(.closed)
  /// Returns the error of a channel whose transport failed, for types that conform to
  /// `DataChannel`.
  ///
  /// - Parameter reason: a part of a sentence, as in "the adapter is gone".
  public static func failed(_ reason: String) -> Self { Self(.stream(reason)) }

  /// The kind of failure.
  public var code: Code {
    switch reason {
    case .closed, .closedHere: .closed
    case .messageSize, .messageTooLong: .invalidMessage
    case .invalidFraming, .peerNotReading, .receiveOverflow, .messagesLost, .stream: .failed
    case .invalidEndpoint: .invalidEndpoint
    case .unresolvedHost, .system: .system
    case .bluetooth, .notPaired, .otherConfiguration: .bluetooth
    }
  }

  /// The cause in one sentence.
  public var errorDescription: String? { description }

  /// The next step to try; nil where the cause suffices.
  public var recoverySuggestion: String? {
    switch reason {
    case .closed, .closedHere: "Connect again."
    case .messageSize, .messageTooLong: "Send one message of the accessory protocol at a time."
    case .invalidFraming:
      "Check that the peer sends the length of each message before it, in two bytes, low byte first."
    case .messagesLost: "Let the app wait for each answer before it writes again."
    case .peerNotReading, .receiveOverflow:
      "Check that the peer handles messages, then connect again."
    case .invalidEndpoint: "Use tcp:host:port, tcp:port (this machine only) or unix:/path."
    case .unresolvedHost: "Check the name, or use the address."
    case .system(.addressInUse, _): "End the program that listens there, or choose another address."
    case .system(.connectionRefused, _), .system(.noSuchFileOrDirectory, _):
      "Start the accessory first, and check the address."
    case .system, .stream: "Remove the cause, then connect again."
    case .bluetooth(let error): error.recoverySuggestion
    case .notPaired:
      "Pair with it: BluetoothCentral.connect(to:pairing:), or uwbctl find --ble --pair."
    case .otherConfiguration:
      "Let the app ask for new data (0x0A); the accessory has to hold it before it sends 0x01."
    }
  }
}

extension ChannelError: CustomStringConvertible {
  /// The cause in one sentence.
  public var description: String {
    switch reason {
    case .closed: "The data channel is closed."
    case .closedHere(let why): "The accessory closed the connection: \(why)."
    case .messageSize(let bytes, let limit):
      "A message of \(bytes) bytes cannot be sent; the limits are 1 and \(limit)."
    case .messageTooLong(let bytes, let limit):
      "The peer has written a message of \(bytes) bytes; the limit is \(limit)."
    case .invalidFraming(let why): "The peer does not frame its messages: \(why)."
    case .peerNotReading: "The peer does not read its messages."
    case .receiveOverflow: "The peer sends faster than its messages are handled."
    case .messagesLost(let count):
      "The peer writes faster than its messages are handled; \(count) were lost."
    case .stream(let why): "The byte stream failed: \(why)."
    case .invalidEndpoint(let text, let reason): "Invalid channel endpoint '\(text)': \(reason)."
    case .unresolvedHost(let host): "Cannot resolve the host name \(host)."
    case .system(let error, let endpoint): "\(endpoint): \(error)."
    case .bluetooth(let error): error.description
    case .notPaired(let device): "The accessory \(device) is not paired with this machine."
    case .otherConfiguration(let device):
      "The Nearby Interaction service of the accessory \(device) does not hold this configuration data."
    }
  }
}
