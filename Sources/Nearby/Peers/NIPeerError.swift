// SPDX-License-Identifier: Apache-2.0
internal import Channels
public import FoundationEssentials
internal import SystemPackage

/// An error of the search for peers or of the exchange of tokens. Not part of Apple's API.
public struct NIPeerError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
  /// The kinds of failure. Later versions may add more, so a `switch` needs a default.
  public struct Code: Sendable, Hashable {
    fileprivate let name: String

    /// No network accepts announcements.
    public static let noNetwork = Code(name: "noNetwork")
    /// Bluetooth LE is not available.
    public static let noBluetooth = Code(name: "noBluetooth")
    /// A name or service that cannot be announced.
    public static let invalidName = Code(name: "invalidName")
    /// The peer is no longer announced, or does not accept the connection.
    public static let unreachable = Code(name: "unreachable")
    /// The peer, or its user, did not answer in time.
    public static let silent = Code(name: "silent")
    /// The connection ended.
    public static let vanished = Code(name: "vanished")
    /// A received message is not part of the exchange, or comes from a third party.
    public static let damaged = Code(name: "damaged")
    /// The peer refused the invitation or the code.
    public static let refused = Code(name: "refused")
    /// The two chips cannot range with each other.
    public static let incompatible = Code(name: "incompatible")
    /// OpenSSL's library, which exchanges need, is missing.
    public static let noCryptography = Code(name: "noCryptography")
    /// The exchange was ended on this side.
    public static let closed = Code(name: "closed")
  }

  /// The kind of failure.
  public let code: Code
  /// The cause in one sentence.
  public let description: String
  /// The cause in one sentence.
  public var errorDescription: String? { description }
  /// The next step to try.
  public let recoverySuggestion: String?

  private init(_ code: Code, _ description: String, try suggestion: String?) {
    (self.code, self.description, recoverySuggestion) = (code, description, suggestion)
  }

  static func noNetwork(errno: Int32) -> Self {
    Self(
      .noNetwork, "No network accepts announcements: \(Errno(rawValue: errno)).",
      try: "Bring a network with IPv4 up, at least the loopback: sudo ip link set lo up.")
  }
  static func bluetooth(_ error: ChannelError) -> Self {
    Self(.noBluetooth, error.description, try: error.recoverySuggestion)
  }
  static let invalidName = Self(
    .invalidName, "This name or service cannot be announced.",
    try: "Use a name of 1 to 63 bytes, over Bluetooth LE 29, without control characters, and as "
      + "the service 1 to 15 lower-case letters, digits and hyphens.")
  static func unreachable(_ cause: String) -> Self {
    Self(
      .unreachable, "The peer cannot be reached: \(cause)",
      try: "Check that its program still runs, and that no firewall is between the two machines.")
  }
  static let silent = Self(
    .silent, "The peer did not answer in time.", try: "Begin again on both machines.")
  static let vanished = Self(
    .vanished, "The connection to the peer has ended.", try: "Begin again on both machines.")
  static let damaged = Self(
    .damaged, "A received message is not part of an exchange, or comes from a third party.",
    try: "Install the same version on both machines, and begin again. If it happens again, a "
      + "third party in the network may interfere.")
  static let refused = Self(
    .refused, "The peer refused.", try: "Compare the codes on both machines, then begin again.")
  static let closed = Self(.closed, "The exchange was ended here.", try: "Begin again.")

  package init(_ error: PeerTokenError) {
    switch error {
    case .incompatible: self.init(.incompatible, error.description, try: error.recoverySuggestion)
    case .noCryptography:
      self.init(.noCryptography, error.description, try: error.recoverySuggestion)
    default: self = .damaged
    }
  }
}
