// SPDX-License-Identifier: Apache-2.0
package import UCI

/// Makes the blocks of a pcapng file: one section, one interface, one packet in each block.
///
/// Each block is complete once made. A file written block by block can therefore be read up to its
/// last complete block, whenever the writer ended.
package struct PcapngEncoder: Sendable {
  /// The names of the section and of its interface; a nil name is not written.
  package struct Description: Sendable, Hashable {
    /// The chip or board (`shb_hardware`).
    package var hardware: String?
    /// The operating system (`shb_os`).
    package var os: String?
    /// The program that records (`shb_userappl`).
    package var userApplication: String?
    /// The name of the device (`if_name`).
    package var interfaceName: String?
    /// The description of the device (`if_description`).
    package var interfaceDescription: String?
    package init(
      hardware: String? = nil, os: String? = nil, userApplication: String? = nil,
      interfaceName: String? = nil, interfaceDescription: String? = nil
    ) {
      self.hardware = hardware
      self.os = os
      self.userApplication = userApplication
      self.interfaceName = interfaceName
      self.interfaceDescription = interfaceDescription
    }
  }

  /// LINKTYPE_FIRA_UCI: a UCI packet with its header, nothing before or after it.
  package static let linkType: UInt16 = 299

  /// LINKTYPE_USER0, for messages between accessories and phones. The interface has the description
  /// `messages`.
  static let messageLinkType: UInt16 = 147
  /// The description of the interface of such messages, which identifies them.
  static let messages = "Messages between an accessory and phones"

  private var redactor: SecretRedactor?
  private var hasMessages = false

  /// - Parameter includeSecrets: whether keys are written as they are; otherwise as zeros.
  package init(includeSecrets: Bool = false) {
    redactor = includeSecrets ? nil : SecretRedactor()
  }

  /// Returns the section header block and the interface description block that a file begins with.
  package static func preamble(_ description: Description = Description()) -> [UInt8] {
    var section: [UInt8] = []
    section.append(le: UInt32(0x1A2B_3C4D))
    section.append(le: UInt16(1))
    section.append(le: UInt16(0))
    // The length of the section is unknown.
    section.append(le: UInt64.max)
    section += options([
      (2, text(description.hardware)), (3, text(description.os)),
      (4, text(description.userApplication)),
    ])
    return block(0x0A0D_0D0A, section)
      + interface(linkType, description.interfaceName, description.interfaceDescription)
  }

  private static func interface(
    _ linkType: UInt16, _ name: String?, _ description: String?
  ) -> [UInt8] {
    var interface: [UInt8] = []
    interface.append(le: linkType)
    interface.append(le: UInt16(0))
    // The length of packets is unlimited.
    interface.append(le: UInt32(0))
    // if_tsresol: 10^-9 s.
    interface += options([(2, text(name)), (3, text(description)), (9, [9])])
    return block(1, interface)
  }

  /// Returns the enhanced packet block of one packet. Packets have to be passed in their order on
  /// the wire, because keys can be spread over segments.
  ///
  /// - Parameter time: nanoseconds since 1970.
  package mutating func packet(
    _ direction: PacketDirection, _ packet: [UInt8], time: UInt64
  ) -> [UInt8] {
    let bytes = redactor?.redact(packet) ?? packet
    return Self.packet(0, direction, bytes, time: time, comment: nil)
  }

  /// Returns the block of a message between an accessory and a phone. The first of them comes after
  /// the description of its interface.
  ///
  /// - Parameters:
  ///   - message: the message. Its keys are not recognised here.
  ///   - comment: the protocol and the name of the phone.
  package mutating func message(
    _ direction: PacketDirection, _ message: [UInt8], time: UInt64, comment: String
  ) -> [UInt8] {
    let interface =
      hasMessages ? [] : Self.interface(Self.messageLinkType, "phones", Self.messages)
    hasMessages = true
    return interface + Self.packet(1, direction, message, time: time, comment: comment)
  }

  private static func packet(
    _ interface: UInt32, _ direction: PacketDirection, _ bytes: [UInt8], time: UInt64,
    comment: String?
  ) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(bytes.count + 48)
    body.append(le: interface)
    body.append(le: UInt32(truncatingIfNeeded: time >> 32))
    body.append(le: UInt32(truncatingIfNeeded: time))
    body.append(le: UInt32(truncatingIfNeeded: bytes.count))
    body.append(le: UInt32(truncatingIfNeeded: bytes.count))
    body.append(padded: bytes)
    // epb_flags, bits 0 and 1: the direction.
    body += options([(1, text(comment)), (2, [direction == .inbound ? 1 : 2, 0, 0, 0])])
    return block(6, body)
  }

  private static func text(_ text: String?) -> [UInt8]? {
    text.map { Array($0.utf8.prefix(1_024)) }
  }

  private static func options(_ list: [(code: UInt16, value: [UInt8]?)]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (code, value) in list {
      guard let value else { continue }
      bytes.append(le: code)
      bytes.append(le: UInt16(truncatingIfNeeded: value.count))
      bytes.append(padded: value)
    }
    // opt_endofopt, the end of the options.
    return bytes.isEmpty ? [] : bytes + [0, 0, 0, 0]
  }

  private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
    let length = UInt32(truncatingIfNeeded: body.count + 12)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(body.count + 12)
    bytes.append(le: type)
    bytes.append(le: length)
    bytes += body
    bytes.append(le: length)
    return bytes
  }
}

extension [UInt8] {
  fileprivate mutating func append(le value: some FixedWidthInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// Appends the bytes, and zeros up to a multiple of four.
  fileprivate mutating func append(padded bytes: [UInt8]) {
    self += bytes
    self += repeatElement(0, count: -bytes.count & 3)
  }
}
