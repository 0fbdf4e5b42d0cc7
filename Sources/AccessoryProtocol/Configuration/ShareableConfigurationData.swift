// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWB

/// What the app's side sends to an accessory to begin a session: Shareable Configuration Data. New
/// for each run.
///
/// Layout, little-endian: version, number of bytes that follow, country, session, radio,
/// schedule, initialisation vector, address. Sources: AOSP's ranging test application (all
/// versions), a published capture of an iPhone (1.1).
public struct ShareableConfigurationData: Sendable, Hashable {
  /// Determines which fields are sent.
  package var version: ConfigurationVersion
  /// The sender's country, two ASCII characters in the order of the wire, as in `EU` and `US`.
  package var country: [UInt8] = [0x45, 0x55]
  /// The session id of both ends.
  package var sessionID: UInt32
  /// 9…12.
  package var preambleCode: UInt8 = 11
  /// UWB channel; 9 in captures.
  package var channel: UInt8 = 9
  /// Slots in a ranging round; 6 in captures.
  package var slotsPerRound: UInt16 = 6
  /// Length of a slot in RSTU, 1200 of which are a millisecond; 3600 in captures.
  package var slotDuration: UInt16 = 3_600
  /// From one ranging round to the next, in milliseconds; 180 and 198 in captures.
  package var interval: UInt16 = 198
  /// The messages of a round, as RANGING_ROUND_CONTROL; 3 in captures.
  package var roundControl: UInt8 = 3
  /// Six bytes of the static STS: key material, which is never printed.
  package var initialisationVector = InitialisationVector.random()
  /// The sender's short address.
  package var address: UInt16
  /// The greatest clock error in parts per million. Not in version 1.0.
  package var clockDrift: UInt16 = 100
  /// Rounds hop within a block. Only in version 2.0.
  package var hopping = false

  /// STATIC_STS_IV, six bytes in the order of the wire.
  package struct InitialisationVector: Sendable, Hashable, Secret {
    package let bytes: [UInt8]
    /// nil unless there are six bytes.
    package init?(_ bytes: [UInt8]) {
      guard bytes.count == 6 else { return nil }
      self.bytes = bytes
    }
    /// From the system's cryptographic random source.
    package static func random() -> InitialisationVector {
      var generator = SystemRandomNumberGenerator()
      return InitialisationVector(unchecked: (0..<6).map { _ in generator.next() })
    }
    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
  }

  /// Creates data with a random initialisation vector and otherwise the values of captures.
  public init(version: ConfigurationVersion = .v11, sessionID: UInt32, address: UInt16) {
    self.version = version
    self.sessionID = sessionID
    self.address = address
  }

  /// The number of bytes after the length field.
  private static func remainder(in version: ConfigurationVersion) -> UInt8 {
    switch version {
    case .v10: 23
    case .v11: 25
    case .v20: 30
    }
  }

  /// Decodes what the app's side sent, without the message identifier.
  ///
  /// - Throws: `AccessoryError` with the code `.invalidConfiguration`, which names the field.
  public init(_ bytes: [UInt8]) throws(AccessoryError) {
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
    if version >= .v20 {
      _ = try reader.u32("reserved")
      hopping = try reader.flag("hopping mode")
    }
  }

  /// The encoded data, which holds key material.
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
