// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// A message from a phone to an accessory, in Android's out-of-band protocol: version, identifier
/// and data. One write is one message.
package struct AndroidPhoneMessage: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    /// 0x00: requests the capabilities for these technologies.
    case capabilityRequest(AndroidTechnologies)
    /// 0x02: begins a session; nil if the message has none of UWB.
    case configuration(AndroidChoice?, wantsMotion: Bool)
    /// 0x06: ends ranging with these technologies.
    case stop(AndroidTechnologies)
  }

  /// The version, which determines the layout of this message.
  package var version: UInt8
  package var content: Content

  package init(_ content: Content, version: UInt8) {
    (self.version, self.content) = (version, content)
  }

  /// Returns whether a message is one of this protocol, not of Apple's (0x0A to 0x0C).
  package static func isRecognized(_ bytes: [UInt8]) -> Bool {
    bytes.first.map { $0 < 0x0A } ?? false
  }

  /// Decodes a message. A request may have a version that is not known yet.
  ///
  /// - Throws: `AccessoryError` with the code `.invalidMessage` or `.invalidConfiguration`.
  package init(_ bytes: [UInt8]) throws(AccessoryError) {
    let id = try Self.identifier(bytes)
    version = bytes[0]
    guard version >= 1, id == 0x00 || version <= AndroidProtocol.newest else {
      throw AccessoryError(.unsupportedVersion(version))
    }
    switch id {
    case 0x00: content = .capabilityRequest(try Self.technologies(bytes, version))
    case 0x02: content = try Self.configuration(bytes)
    case 0x06: content = .stop(try Self.technologies(bytes, version))
    default: throw AccessoryError(.unknownMessage(id))
    }
  }

  /// Returns the identifier, after the version.
  static func identifier(_ bytes: [UInt8]) throws(AccessoryError) -> UInt8 {
    guard let version = bytes.first else { throw AccessoryError(.emptyMessage) }
    guard bytes.count >= 2 else { throw AccessoryError(.damagedMessage(version)) }
    return bytes[1]
  }

  /// Decodes a message that has only technologies. Later versions may append data.
  static func technologies(
    _ bytes: [UInt8], _ version: UInt8
  ) throws(AccessoryError) -> AndroidTechnologies {
    guard bytes.count == 4 || bytes.count > 4 && version > AndroidProtocol.newest else {
      throw AccessoryError(.damagedMessage(bytes[1]))
    }
    return AndroidTechnologies(rawValue: UInt16(littleEndianBytes: bytes[2...3]))
  }

  private static func configuration(_ bytes: [UInt8]) throws(AccessoryError) -> Content {
    guard bytes.count >= 6 else { throw AccessoryError(.damagedMessage(0x02)) }
    let configured = AndroidTechnologies(rawValue: UInt16(littleEndianBytes: bytes[2...3]))
    let started = AndroidTechnologies(rawValue: UInt16(littleEndianBytes: bytes[4...5]))
    guard configured.contains(.uwb) == started.contains(.uwb) else {
      throw AccessoryError(
        .invalidConfiguration(
          field: "technologies to start", reason: "differ from the configured ones"))
    }
    let blocks = try AndroidBlocks(bytes[6...], of: configured)
    // Phones of version 3 append a byte, whose absence means no motion.
    let motion = blocks.rest.first ?? 0
    guard motion <= 1, bytes[0] >= 3 || blocks.rest.isEmpty else {
      throw AccessoryError(.damagedMessage(0x02))
    }
    var uwb: AndroidChoice?
    if let block = blocks.uwb { uwb = try AndroidChoice(block) }
    return .configuration(uwb, wantsMotion: motion == 1)
  }

  /// The encoded message. A configuration contains key material.
  package var bytes: [UInt8] {
    switch content {
    case .capabilityRequest(let set): return [version, 0x00] + set.rawValue.littleEndianBytes
    case .configuration(let uwb, let wantsMotion):
      let set: [UInt8] = [uwb == nil ? 0 : 1, 0]
      return [version, 0x02] + set + set + (uwb?.bytes ?? [])
        + (version >= 3 ? [wantsMotion ? 1 : 0] : [])
    case .stop(let set): return [version, 0x06] + set.rawValue.littleEndianBytes
    }
  }
}

/// A message from an accessory to a phone, in Android's out-of-band protocol.
package struct AndroidAccessoryMessage: Sendable, Hashable {
  /// The kind of device. Phones derive their role from it.
  package enum DeviceType: UInt16, Sendable, Hashable, CaseIterable {
    case unknown, phone, tablet, tag, wearable, hearable
  }

  /// The strength of a motion.
  package enum Motion: UInt8, Sendable, Hashable, CaseIterable {
    case none, slight, moderate, large
  }

  package enum Content: Sendable, Hashable {
    /// 0x01: the capabilities; nil if no requested technology is supported. From version 2 with
    /// the type of the device.
    case capabilityResponse(AndroidCapability?, DeviceType)
    /// 0x03: the technologies that were configured and started.
    case configurationResponse(AndroidTechnologies)
    /// 0x07: the technologies that have stopped.
    case stopResponse(AndroidTechnologies)
    /// 0x08: the motion of the accessory, only in version 3 and only if the phone asked for it.
    case motion(Motion)
  }

  package var version: UInt8
  package var content: Content

  package init(_ content: Content, version: UInt8) {
    (self.version, self.content) = (version, content)
  }

  /// Decodes a message.
  ///
  /// - Throws: `AccessoryError` with the code `.invalidMessage` or `.invalidConfiguration`.
  package init(_ bytes: [UInt8]) throws(AccessoryError) {
    let id = try AndroidPhoneMessage.identifier(bytes)
    version = bytes[0]
    guard 1...AndroidProtocol.newest ~= version else {
      throw AccessoryError(.unsupportedVersion(version))
    }
    switch id {
    case 0x01: content = try Self.response(bytes)
    case 0x03: content = .configurationResponse(try Self.technologies(bytes))
    case 0x07: content = .stopResponse(try Self.technologies(bytes))
    case 0x08:
      guard version >= 3, bytes.count == 3, let motion = Motion(rawValue: bytes[2]) else {
        throw AccessoryError(.damagedMessage(id))
      }
      content = .motion(motion)
    default: throw AccessoryError(.unknownMessage(id))
    }
  }

  private static func technologies(
    _ bytes: [UInt8]
  ) throws(AccessoryError) -> AndroidTechnologies {
    try AndroidPhoneMessage.technologies(bytes, bytes[0])
  }

  private static func response(_ bytes: [UInt8]) throws(AccessoryError) -> Content {
    let trailing = bytes[0] >= 2 ? 3 : 0
    guard bytes.count >= 4 + trailing else { throw AccessoryError(.damagedMessage(0x01)) }
    let set = AndroidTechnologies(rawValue: UInt16(littleEndianBytes: bytes[2...3]))
    let blocks = try AndroidBlocks(bytes[4..<bytes.count - trailing], of: set)
    guard blocks.rest.isEmpty else { throw AccessoryError(.damagedMessage(0x01)) }
    var uwb: AndroidCapability?
    if let block = blocks.uwb { uwb = try AndroidCapability(block) }
    let type = trailing == 0 ? 0 : UInt16(littleEndianBytes: bytes.suffix(2))
    return .capabilityResponse(uwb, DeviceType(rawValue: type) ?? .unknown)
  }

  /// The encoded message.
  package var bytes: [UInt8] {
    switch content {
    case .capabilityResponse(let uwb, let type):
      // A transition between technologies is not supported.
      return [version, 0x01, uwb == nil ? 0 : 1, 0] + (uwb?.bytes ?? [])
        + (version >= 2 ? [0] + type.rawValue.littleEndianBytes : [])
    case .configurationResponse(let set): return [version, 0x03] + set.rawValue.littleEndianBytes
    case .stopResponse(let set): return [version, 0x07] + set.rawValue.littleEndianBytes
    case .motion(let motion): return [version, 0x08, motion.rawValue]
    }
  }
}
