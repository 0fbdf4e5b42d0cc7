// SPDX-License-Identifier: Apache-2.0

/// What a program says of itself once a second to everybody in its networks, so that peers find it: a
/// datagram to 239.255.85.87, port 7701, that no router passes on.
///
/// ## Format, version 1: 18 to 96 bytes, numbers little-endian
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 4 | `UWBN` in ASCII |
/// | 4 | 1 | version: 1 |
/// | 5 | 8 | random number of the program |
/// | 13 | 2 | TCP port at which it takes invitations, at the address that the datagram comes from; 0: it leaves |
/// | 15 | 1 | bytes of the service |
/// | 16 | 1…15 | service: lower-case letters, digits and hyphens of ASCII |
/// | … | 1…63 | name of the machine or its user: UTF-8 without control characters |
///
/// Nothing in it is secret, and nothing in it is believed: whoever is found has to show the right code.
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

  /// nil for everything that this version does not send.
  package init?(_ bytes: [UInt8]) {
    guard 18...Self.longest ~= bytes.count, bytes.starts(with: Self.magic),
      bytes[4] == Self.version, 1...15 ~= bytes[15], bytes.count > 16 + Int(bytes[15])
    else { return nil }
    let end = 16 + Int(bytes[15])
    guard let service = String(validating: bytes[16..<end], as: UTF8.self),
      Self.isService(service), let name = Self.name(bytes[end...])
    else { return nil }
    self.init(
      id: bytes[5..<13].reversed().reduce(0) { $0 << 8 | UInt64($1) },
      port: UInt16(bytes[13]) | UInt16(bytes[14]) << 8, service: service, name: name)
  }

  package var bytes: [UInt8] {
    var bytes = Self.magic + [Self.version]
    for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: id >> (8 * byte))) }
    bytes += [UInt8(truncatingIfNeeded: port), UInt8(port >> 8), UInt8(service.utf8.count)]
    bytes += service.utf8
    return bytes + name.utf8
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

  /// The name that bytes are; nil: none can be.
  package static func name(_ bytes: some Collection<UInt8>) -> String? {
    guard 1...63 ~= bytes.count, let name = String(validating: bytes, as: UTF8.self) else {
      return nil
    }
    // Neither controls nor what turns the direction of text, which would show another code.
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
