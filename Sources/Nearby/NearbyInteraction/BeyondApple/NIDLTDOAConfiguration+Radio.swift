// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWB

extension NIDLTDOAConfiguration {
  /// The radio parameters of a network of anchors. Not part of Apple's API.
  ///
  /// On Apple's platforms, anchors announce them by Bluetooth. Here the app has to provide them.
  public struct Radio: Sendable, Hashable, Codable {
    /// The UWB channel, 5 or 9.
    public var channel: UInt8 = 9
    /// The preamble code, 9 to 12.
    public var preambleCode: UInt8 = 10
    /// The duration of a slot in RSTU; 1200 are one millisecond.
    public var slotDuration: UInt16 = 2_400
    /// The number of slots in a ranging round.
    public var slotsPerRound: UInt8 = 25
    /// The time between blocks in milliseconds.
    public var interval: UInt32 = 200
    /// The two bytes of VENDOR_ID and the six bytes of STATIC_STS_IV, in wire order.
    public var staticSTS: [UInt8] = [0x08, 0x07, 1, 2, 3, 4, 5, 6]
    /// This device's short address.
    public var address: UInt16 = 0x7A60
    /// The ranging rounds to receive, at most 250.
    public var rounds: [UInt8] = [0]

    /// Creates FiRa's default parameters.
    public init() {}
  }
}

extension NIDLTDOAConfiguration.Radio: CustomStringConvertible, CustomReflectable {
  /// All parameters except the static STS, which is key material.
  public var description: String {
    "channel \(channel), preamble \(preambleCode), \(slotsPerRound) slots of \(slotDuration) RSTU, "
      + "\(interval) ms, rounds \(rounds), STS (hidden)"
  }
  /// A mirror that has only the description.
  public var customMirror: Mirror { Mirror(reflecting: description) }
}

extension NIDLTDOAConfiguration.Radio {
  /// The error for a value that no command can carry. The chip checks other values.
  var problem: NIError? {
    guard staticSTS.count == 8 else {
      return NIError(
        .invalidConfiguration, reason: "radio.staticSTS has \(staticSTS.count) bytes, not 8.",
        recovery: "Use VENDOR_ID and STATIC_STS_IV of the anchors.")
    }
    guard rounds.count <= 250 else {
      return NIError(
        .invalidConfiguration, reason: "radio.rounds names \(rounds.count) rounds, more than 250.",
        recovery: "Name each round once.")
    }
    return nil
  }

  /// Returns the session of a tag.
  ///
  /// Source: AOSP's stack, which for a tag sends DEVICE_ROLE 8 and RANGING_ROUND_USAGE 5, but
  /// neither DEVICE_TYPE nor peers.
  func configuration(id: UInt32) -> SessionConfiguration {
    var session = SessionConfiguration(
      role: .downlinkTag(.init(rounds: rounds)), sessionID: id, address: MACAddress(address))
    session.channel = channel
    session.preambleCode = preambleCode
    session.slotDuration = slotDuration
    session.slotsPerRound = slotsPerRound
    session.interval = interval
    session.sts = .fixed(
      .init(vendorID: Array(staticSTS.prefix(2)), iv: Array(staticSTS.dropFirst(2))))
    return session
  }
}
