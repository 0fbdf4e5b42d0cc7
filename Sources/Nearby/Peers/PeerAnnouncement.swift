// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// An announcement of a program, sent once a second to its networks, so that peers find it.
///
/// It is a datagram to 239.255.85.87, port 7701, which routers do not forward.
///
/// ## Format, version 1: 18 to 96 bytes, numbers little-endian
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 4 | `UWBN` in ASCII |
/// | 4 | 1 | version: 1 |
/// | 5 | 8 | random number of the program |
/// | 13 | 2 | TCP port for invitations, at the sender's address; 0: the program closes |
/// | 15 | 1 | bytes of the service |
/// | 16 | 1…15 | service: lower-case letters, digits and hyphens of ASCII |
/// | … | 1…63 | name of the machine or its user: UTF-8 without control characters |
///
/// An announcement has no secrets and proves nothing: only the code verifies a peer.
package struct PeerAnnouncement: Sendable, Hashable {
  package static let group = "239.255.85.87"
  package static let port: UInt16 = 7701
  static let version: UInt8 = 1
  static let longest = 96
  private static let magic: [UInt8] = Array("UWBN".utf8)

  package let id: UInt64
  package let port: UInt16
  package let service: String
  package let name: String

  package init(id: UInt64, port: UInt16, service: String, name: String) {
    (self.id, self.port, self.service, self.name) = (id, port, service, name)
  }

  /// Parses an announcement; nil for bytes that this version does not send.
  package init?(_ bytes: [UInt8]) {
    guard 18...Self.longest ~= bytes.count, bytes.starts(with: Self.magic),
      bytes[4] == Self.version, 1...15 ~= bytes[15], bytes.count > 16 + Int(bytes[15])
    else { return nil }
    let end = 16 + Int(bytes[15])
    guard let service = String(validating: bytes[16..<end], as: UTF8.self),
      Self.isService(service), let name = Self.name(bytes[end...])
    else { return nil }
    self.init(
      id: UInt64(littleEndianBytes: bytes[5..<13]),
      port: UInt16(littleEndianBytes: bytes[13..<15]), service: service, name: name)
  }

  package var bytes: [UInt8] {
    let numbers = id.littleEndianBytes + port.littleEndianBytes + [UInt8(service.utf8.count)]
    return Self.magic + [Self.version] + numbers + service.utf8 + name.utf8
  }

  package static func isService(_ text: String) -> Bool {
    1...15 ~= text.utf8.count
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// Returns the name in `bytes`; nil if they are not a valid name.
  package static func name(_ bytes: some Collection<UInt8>) -> String? {
    guard 1...63 ~= bytes.count, let name = String(validating: bytes, as: UTF8.self) else {
      return nil
    }
    // Control characters, and characters that change the direction of text, could fake a code.
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
        .unassigned:
        false
      default: true
      }
    }
    return isPlain ? name : nil
  }
}
