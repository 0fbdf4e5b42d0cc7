// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWB

extension NIDLTDOAConfiguration {
  /// Beyond Apple: the radio parameters of a network of anchors. On Apple's platforms the anchors
  /// announce them by Bluetooth; here they have to be known.
  public struct Radio: Sendable, Hashable, Codable {
    /// 5 or 9.
    public var channel: UInt8 = 9
    /// 9…12.
    public var preambleCode: UInt8 = 10
    /// The length of a slot in RSTU; 1200 are one millisecond.
    public var slotDuration: UInt16 = 2_400
    /// The number of slots in a ranging round.
    public var slotsPerRound: UInt8 = 25
    /// The time from one block to the next in milliseconds.
    public var interval: UInt32 = 200
    /// The two bytes of VENDOR_ID and the six of STATIC_STS_IV, in the order of the wire.
    public var staticSTS: [UInt8] = [0x08, 0x07, 1, 2, 3, 4, 5, 6]
    /// This device's short address.
    public var address: UInt16 = 0x7A60
    /// The ranging rounds to listen to, at most 250.
    public var rounds: [UInt8] = [0]

    /// Creates FiRa's default parameters.
    public init() {}
  }
}

extension NIDLTDOAConfiguration.Radio: CustomStringConvertible, CustomReflectable {
  /// All parameters but the static STS, which is key material.
  public var description: String {
    "channel \(channel), preamble \(preambleCode), \(slotsPerRound) slots of \(slotDuration) RSTU, "
      + "\(interval) ms, rounds \(rounds), STS (hidden)"
  }
  /// The description only.
  public var customMirror: Mirror { Mirror(reflecting: description) }
}

extension NIDLTDOAConfiguration.Radio {
  /// A value that no command can carry; the chip checks the others.
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

  /// The session of a tag. Source: AOSP's stack, which sends DEVICE_ROLE 8 and RANGING_ROUND_USAGE 5 for
  /// a tag, and neither DEVICE_TYPE nor peers.
  func configuration(id: UInt32) -> SessionConfiguration {
    var session = SessionConfiguration(
      role: .controlee, sessionID: id, address: MACAddress(address), peers: [])
    session.channel = channel
    session.preambleCode = preambleCode
    session.slotDuration = slotDuration
    session.slotsPerRound = slotsPerRound
    session.interval = interval
    session.sts = .fixed(
      .init(vendorID: Array(staticSTS.prefix(2)), iv: Array(staticSTS.dropFirst(2))))
    session.rframe = 1
    session.additional = [
      TLV(.rangingRoundUsage, [5]), TLV(.deviceRole, [8]), TLV(.multiNodeMode, [1]),
    ]
    session.omitted = [.deviceType, .numberOfControlees, .dstMACAddress, .resultReportConfig]
    return session
  }
}
