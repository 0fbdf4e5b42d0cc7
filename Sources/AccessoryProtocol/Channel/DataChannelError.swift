// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// Why messages could not be carried.
public enum DataChannelError: Error, Sendable, Hashable {
  /// The channel has ended.
  case closed
  /// The other side sends what is no frame, or a message that is too long.
  case notFramed(String)
  /// A message to be sent is empty, or too long.
  case unfit(bytes: Int, limit: Int)
  /// The other side does not take what it is sent.
  case notTaken
  /// The other side sends more than is taken from it.
  case flooded
  /// The text names no place to listen or to connect to.
  case invalidEndpoint(String, reason: String)
  /// The host has no address.
  case unresolvedHost(String)
  /// The kernel refused; where.
  case system(Errno, endpoint: String)
  /// What carries the bytes failed.
  case stream(String)
}

extension DataChannelError: CustomStringConvertible {
  /// One sentence with the cause.
  public var description: String {
    switch self {
    case .closed: "The data channel is closed."
    case .notFramed(let why): "The other side does not frame its messages: \(why)."
    case .unfit(let bytes, let limit):
      "A message of \(bytes) bytes cannot be sent; 1 to \(limit) can."
    case .notTaken: "The other side does not take what it is sent."
    case .flooded: "The other side sends more than can be handled."
    case .invalidEndpoint(let text, let reason): "\(text) names no data channel: \(reason)."
    case .unresolvedHost(let host): "\(host) has no address."
    case .system(let error, let endpoint): "\(endpoint): \(error)."
    case .stream(let why): "The byte stream failed: \(why)."
    }
  }

  /// What to try next.
  public var suggestion: String {
    switch self {
    case .closed: "Connect again."
    case .notFramed:
      "Check that the other side puts the length in two bytes, the lower one first, before each "
        + "message."
    case .unfit: "Send one message of the accessory protocol at a time."
    case .notTaken, .flooded: "Check that the other side handles messages, then connect again."
    case .invalidEndpoint: "Use tcp:host:port, tcp:port (this machine only) or unix:/path."
    case .unresolvedHost: "Check the name, or use its address."
    case .system(.addressInUse, _): "End the program that listens there, or choose another place."
    case .system(.connectionRefused, _), .system(.noSuchFileOrDirectory, _):
      "Start the other side first, and check the place."
    case .system, .stream: "Check what the cause names, then connect again."
    }
  }
}
