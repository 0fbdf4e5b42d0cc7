// SPDX-License-Identifier: Apache-2.0
package import UCI
package import UWB

/// Shareable Configuration Data, which the app's side sends to an accessory to begin a session.
/// Each run has new data.
///
/// Layout, little-endian: version, number of bytes that follow, country, session, radio,
/// schedule, initialisation vector, address. Sources: AOSP's ranging test application (all
/// versions), a published capture of an iPhone (1.1).
package struct ShareableConfigurationData: Sendable, Hashable {
  /// The version, which determines the fields.
  package var version = ConfigurationVersion.v11
  /// The sender's country: two ASCII characters in wire order, such as `EU` and `US`.
  package var country: [UInt8] = [0x45, 0x55]
  /// The session id of both ends.
  package var sessionID: UInt32 = 1
  /// The preamble code, 9 to 12.
  package var preambleCode: UInt8 = 11
  /// The UWB channel; 9 in captures.
  package var channel: UInt8 = 9
  /// The number of slots in a ranging round; 6 in captures.
  package var slotsPerRound: UInt16 = 6
  /// The duration of a slot in RSTU (1200 are a millisecond); 3600 in captures.
  package var slotDuration: UInt16 = 3_600
  /// The time between ranging rounds in milliseconds; 180 and 198 in captures.
  package var interval: UInt16 = 198
  /// The messages of a round, as RANGING_ROUND_CONTROL; 3 in captures.
  package var roundControl: UInt8 = 3
  /// Six bytes of the static STS. They are key material, and never printed.
  package var initialisationVector = InitialisationVector.random()
  /// The sender's short address.
  package var address: UInt16 = 0
  /// The greatest clock error in parts per million. Not in version 1.0.
  package var clockDrift: UInt16 = 100
  /// Whether rounds hop within a block. Only in version 2.0.
  package var hopping = false

  /// STATIC_STS_IV: six bytes in wire order.
  package struct InitialisationVector: Sendable, Hashable, Secret {
    package let bytes: [UInt8]
    /// Creates a vector; nil unless there are six bytes.
    package init?(_ bytes: [UInt8]) {
      guard bytes.count == 6 else { return nil }
      self.bytes = bytes
    }
    /// Returns a vector from the system's cryptographic random source.
    package static func random() -> InitialisationVector {
      var generator = SystemRandomNumberGenerator()
      return InitialisationVector(unchecked: (0..<6).map { _ in generator.next() })
    }
    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
  }

  package init() {}

  /// Creates data with a random initialisation vector, and otherwise the values from captures.
  package init(version: ConfigurationVersion = .v11, sessionID: UInt32, address: UInt16) {
    self.version = version
    self.sessionID = sessionID
    self.address = address
  }
}

extension ShareableConfigurationData: ConfigurationData {
  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.version("version", &version)
    // The length of the fields that follow.
    try coder.length("length", version == .v10 ? 23 : version == .v11 ? 25 : 30, in: version)
    country = Array((country + [0, 0]).prefix(2))
    try coder.bytes("country", &country, .exactly(2))
    try coder.field("session id", &sessionID)
    try coder.field("preamble code index", &preambleCode)
    try coder.field("channel", &channel)
    try coder.field("slots per round", &slotsPerRound)
    try coder.field("slot duration", &slotDuration)
    try coder.field("ranging interval", &interval)
    try coder.field("ranging round control", &roundControl)
    var vector = initialisationVector.bytes
    try coder.bytes("static STS IV", &vector, .exactly(6), .secret)
    initialisationVector = InitialisationVector(vector) ?? initialisationVector
    try coder.field("destination address", &address)
    if version >= .v11 { try coder.field("clock drift", &clockDrift) } else { clockDrift = 0 }
    if version >= .v20 {
      try coder.reserved(4)
      try coder.flag("hopping mode", &hopping)
    }
  }
}

/// The two ends of a Nearby Interaction session.
package enum SessionSide: Sendable, Hashable, CaseIterable {
  /// The phone's end, which creates the shareable data.
  case app
  /// The accessory's end.
  case accessory
}

extension ShareableConfigurationData {
  /// Apple's vendor id, 0x004C, in wire order: the first two bytes of the static STS. Source:
  /// AOSP's ranging test application (4C 00 before the vector).
  static let vendorID: [UInt8] = [0x4C, 0x00]

  /// Returns the session of one side, ready for `UWBDevice.makeSession`.
  ///
  /// All sources agree on the parameters that are not in the data:
  /// - one-to-one double-sided two-way ranging with deferred results, scheduled by time
  /// - SP3 frames, start-of-frame delimiter 2, and one STS segment of 64 symbols
  /// - short addresses
  /// - only the time of flight in the report
  /// - no end after failed rounds
  ///
  /// Sources: AOSP's constants, the notes of a port to a DW3000.
  ///
  /// - Parameters:
  ///   - side: the end to configure.
  ///   - accessory: the accessory's configuration data.
  ///   - angles: whether this side's chip measures angles.
  /// - Throws: `AccessoryError` with the code `.invalidConfiguration` for a value that chips do
  ///   not support.
  package func session(
    of side: SessionSide, with accessory: UWBConfigurationData, angles: Bool = true
  ) throws(AccessoryError) -> SessionConfiguration {
    guard (1...255).contains(slotsPerRound) else {
      throw AccessoryError(
        .invalidConfiguration(field: "slots per round", reason: "is \(slotsPerRound), not 1 to 255")
      )
    }
    guard interval > 0 else {
      throw AccessoryError(.invalidConfiguration(field: "ranging interval", reason: "is 0"))
    }
    guard slotDuration > 0 else {
      throw AccessoryError(.invalidConfiguration(field: "slot duration", reason: "is 0"))
    }
    guard address != accessory.address else {
      throw AccessoryError(
        .invalidConfiguration(field: "destination address", reason: "is the accessory's own"))
    }
    let isController = (accessory.role == .controller) == (side == .accessory)
    let ends = [MACAddress(accessory.address), MACAddress(address)]
    var session = SessionConfiguration(
      role: isController ? .controller : .controlee, sessionID: sessionID,
      address: ends[side == .accessory ? 0 : 1], peers: [ends[side == .accessory ? 1 : 0]])
    session.channel = channel
    session.preambleCode = preambleCode
    session.slotDuration = slotDuration
    session.slotsPerRound = UInt8(slotsPerRound)
    session.interval = UInt32(interval)
    session.sts = .fixed(.init(vendorID: Self.vendorID, iv: initialisationVector.bytes))
    session.hopping = hopping
    session.wantsAngles = angles
    session.resultReport = .timeOfFlight
    session.additional = [
      TLV(.rangingRoundControl, [roundControl]), TLV(.maxRRRetry, [0, 0]),
    ]
    return session
  }

  /// Creates the app's data for a new run, as iPhones have been observed to send it.
  ///
  /// The session id, the initialisation vector and the address are random. The update rate becomes
  /// an interval: 180 ms for user-interactive updates, 770 ms for infrequent updates, otherwise 198
  /// ms. From version 2.0, the accessory requests an interval.
  package static func answering(_ accessory: AccessoryConfigurationData) -> Self {
    var data = Self(
      version: accessory.uwb.version, sessionID: .random(in: 1...UInt32.max),
      address: .shortAddress(except: accessory.uwb.address))
    data.preambleCode = .random(in: 9...12)
    data.interval = accessory.preferredUpdateRate.interval
    if accessory.uwb.version >= .v20 {
      let request = accessory.uwb.request
      data.slotsPerRound = min(max(request.slotsPerRound, 6), 255)
      data.slotDuration = max(request.slotDuration, 2_400)
      data.interval = max(request.interval, data.shortestInterval)
      data.hopping = request.hopping
    }
    return data
  }

  /// The duration of a round in milliseconds, rounded up.
  private var shortestInterval: UInt16 {
    UInt16(clamping: (Int(slotsPerRound) * Int(slotDuration) + 1_199) / 1_200)
  }
}

extension AccessoryConfigurationData.UpdateRate {
  fileprivate var interval: UInt16 {
    switch self {
    case .infrequent: 770
    case .userInteractive: 180
    default: 198
    }
  }
}

extension UInt16 {
  /// Returns a random short address that is not reserved (0xFFFE, 0xFFFF) and not `taken`.
  package static func shortAddress(except taken: UInt16? = nil) -> UInt16 {
    let value = UInt16.random(in: 1...0xFFFC)
    return value == taken ? value + 1 : value
  }
}
