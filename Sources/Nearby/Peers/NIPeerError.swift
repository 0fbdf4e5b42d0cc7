// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
public import FoundationEssentials
internal import SystemPackage

/// Beyond Apple: why peers could not be found, or tokens not be exchanged.
public struct NIPeerError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
  /// The kinds of failure. Later versions may add more, so a `switch` needs a default.
  public struct Code: Sendable, Hashable {
    fileprivate let name: String

    /// There is no network in which to announce anything.
    public static let noNetwork = Code(name: "noNetwork")
    /// Bluetooth LE cannot be used here.
    public static let noBluetooth = Code(name: "noBluetooth")
    /// A name or service that cannot be announced.
    public static let invalidName = Code(name: "invalidName")
    /// The peer is not there any more, or does not take the connection.
    public static let unreachable = Code(name: "unreachable")
    /// The peer did not answer in time, or the people there did not.
    public static let silent = Code(name: "silent")
    /// The connection ended.
    public static let vanished = Code(name: "vanished")
    /// What was received is no part of the exchange, or was made by somebody else.
    public static let damaged = Code(name: "damaged")
    /// The peer refused the invitation or the code.
    public static let refused = Code(name: "refused")
    /// The two chips cannot range with each other.
    public static let incompatible = Code(name: "incompatible")
    /// OpenSSL's library, which exchanges need, is missing here.
    public static let noCryptography = Code(name: "noCryptography")
    /// It was ended here.
    public static let closed = Code(name: "closed")
  }

  /// The kind of failure.
  public let code: Code
  /// The cause in one sentence.
  public let description: String
  /// The cause in one sentence.
  public var errorDescription: String? { description }
  /// What to try next.
  public let recoverySuggestion: String?

  private init(_ code: Code, _ description: String, try suggestion: String?) {
    (self.code, self.description, recoverySuggestion) = (code, description, suggestion)
  }

  static func noNetwork(errno: Int32) -> Self {
    Self(
      .noNetwork, "No network takes announcements: \(Errno(rawValue: errno)).",
      try: "Bring a network with IPv4 up, at least the loopback: sudo ip link set lo up.")
  }
  static func bluetooth(_ error: AccessoryError) -> Self {
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
    .damaged, "What was received is no part of an exchange of tokens, or somebody else made it.",
    try: "Bring both machines to the same version of the software, and begin again; if it happens "
      + "again, somebody in the network interferes.")
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
