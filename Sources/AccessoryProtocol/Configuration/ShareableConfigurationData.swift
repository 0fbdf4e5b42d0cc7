// SPDX-License-Identifier: Apache-2.0
internal import UCI
public import UWB

/// What the app's side sends to an accessory to begin a session: Shareable Configuration Data. It
/// is new with each run.
///
/// Layout, little-endian: version, number of bytes that follow, country, session, radio,
/// schedule, initialisation vector, address. Sources: AOSP's ranging test application (all
/// versions), a published capture of an iPhone (1.1).
public struct ShareableConfigurationData: Sendable, Hashable {
  /// Which fields there are.
  public var version: ConfigurationVersion
  /// Where the sender is, two ASCII characters in the order of the wire, as in `EU` and `US`.
  public var country: [UInt8]
  /// The session, the same at both ends.
  public var sessionID: UInt32
  /// 9…12.
  public var preambleCode: UInt8
  /// UWB channel; 9 in captures.
  public var channel: UInt8
  /// Slots in a ranging round; 6 in captures.
  public var slotsPerRound: UInt16
  /// Length of a slot in RSTU, 1200 of which are a millisecond; 3600 in captures.
  public var slotDuration: UInt16
  /// From one ranging round to the next, in milliseconds; 180 and 198 in captures.
  public var interval: UInt16
  /// Which messages a round has, as RANGING_ROUND_CONTROL; 3 in captures.
  public var roundControl: UInt8
  /// Six bytes of the static STS. Key material: nothing here prints it.
  public var initialisationVector: InitialisationVector
  /// The sender's short address.
  public var address: UInt16
  /// How far the sender's clock may be off, in parts per million. Not in version 1.0.
  public var clockDrift: UInt16
  /// Rounds hop within a block. Only in version 2.0.
  public var hopping: Bool

  /// STATIC_STS_IV, six bytes in the order of the wire.
  public struct InitialisationVector: Sendable, Hashable, Secret {
    /// Always six.
    public let bytes: [UInt8]
    /// From six bytes; nil for any other number.
    public init?(_ bytes: [UInt8]) {
      guard bytes.count == 6 else { return nil }
      self.bytes = bytes
    }
    /// At random, from the system's source for cryptography.
    public static func random() -> InitialisationVector {
      var generator = SystemRandomNumberGenerator()
      return InitialisationVector(unchecked: (0..<6).map { _ in generator.next() })
    }
    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
  }

  /// From its fields; those that the version does not have are not sent. The defaults are those of
  /// captures.
  public init(
    version: ConfigurationVersion = .v11, country: [UInt8] = [0x45, 0x55], sessionID: UInt32,
    preambleCode: UInt8 = 11, channel: UInt8 = 9, slotsPerRound: UInt16 = 6,
    slotDuration: UInt16 = 3_600, interval: UInt16 = 198, roundControl: UInt8 = 3,
    initialisationVector: InitialisationVector = .random(), address: UInt16,
    clockDrift: UInt16 = 100, hopping: Bool = false
  ) {
    self.version = version
    self.country = country
    self.sessionID = sessionID
    self.preambleCode = preambleCode
    self.channel = channel
    self.slotsPerRound = slotsPerRound
    self.slotDuration = slotDuration
    self.interval = interval
    self.roundControl = roundControl
    self.initialisationVector = initialisationVector
    self.address = address
    self.clockDrift = clockDrift
    self.hopping = hopping
  }

  /// Bytes behind the length.
  private static func remainder(in version: ConfigurationVersion) -> UInt8 {
    switch version {
    case .v10: 23
    case .v11: 25
    case .v20: 30
    }
  }

  /// Reads what the app's side sent, without the identifier of the message.
  ///
  /// - Throws: `AccessoryProtocolError.invalidConfiguration`, which names the field.
  public init(_ bytes: [UInt8]) throws(AccessoryProtocolError) {
    self = try decoded(bytes) { (reader) throws(PayloadError) in try Self(from: &reader) }
  }

  init(from reader: inout PayloadReader) throws(PayloadError) {
    version = try ConfigurationVersion(from: &reader, "version")
    let length = try reader.u8("length")
    guard length == Self.remainder(in: version) else {
      throw .invalid(
        field: "length",
        reason: "is \(length), not \(Self.remainder(in: version)) as in version \(version)")
    }
    country = try reader.bytes(2, "country")
    sessionID = try reader.u32("session id")
    preambleCode = try reader.u8("preamble code index")
    channel = try reader.u8("channel")
    slotsPerRound = try reader.u16("slots per round")
    slotDuration = try reader.u16("slot duration")
    interval = try reader.u16("ranging interval")
    roundControl = try reader.u8("ranging round control")
    let vector = try reader.bytes(6, "static STS IV")
    guard let vector = InitialisationVector(vector) else {
      throw .tooShort(field: "static STS IV", needed: 6, available: vector.count)
    }
    initialisationVector = vector
    address = try reader.u16("destination address")
    clockDrift = version >= .v11 ? try reader.u16("clock drift") : 0
    hopping = false
    if version >= .v20 {
      _ = try reader.u32("reserved")
      hopping = try reader.flag("hopping mode")
    }
  }

  /// The bytes as they are sent. They hold key material.
  public var bytes: [UInt8] {
    var writer = PayloadWriter()
    version.encode(into: &writer)
    writer.u8(Self.remainder(in: version))
    writer.bytes((country + [0, 0]).prefix(2))
    writer.u32(sessionID)
    writer.u8(preambleCode)
    writer.u8(channel)
    writer.u16(slotsPerRound)
    writer.u16(slotDuration)
    writer.u16(interval)
    writer.u8(roundControl)
    writer.bytes(initialisationVector.bytes)
    writer.u16(address)
    if version >= .v11 { writer.u16(clockDrift) }
    if version >= .v20 {
      writer.u32(0)
      writer.u8(hopping ? 1 : 0)
    }
    return writer.bytes
  }
}
