// SPDX-License-Identifier: Apache-2.0

/// The kind of a packet: bits 7..5 of its first byte.
///
/// An open type: values a future specification assigns are kept, not refused.
@usableFromInline
package struct MessageType: RawRepresentable, Hashable, Sendable {
  /// 0…7.
  @usableFromInline package let rawValue: UInt8

  /// Keeps the lower three bits of `rawValue`.
  @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue & 7 }

  /// Application data, in either direction.
  @inlinable package static var data: Self { Self(rawValue: 0) }
  /// Host to chip.
  @inlinable package static var command: Self { Self(rawValue: 1) }
  /// Chip to host, exactly one for every command.
  @inlinable package static var response: Self { Self(rawValue: 2) }
  /// Chip to host, at any time.
  @inlinable package static var notification: Self { Self(rawValue: 3) }
  /// Reserved for testing; Qorvo: secure-element test command.
  @inlinable package static var testCommand: Self { Self(rawValue: 4) }
  /// Reserved for testing; Qorvo: secure-element test response.
  @inlinable package static var testResponse: Self { Self(rawValue: 5) }

  /// Whether packets of this type have a group, an opcode and a length of one byte.
  @inlinable package var isControl: Bool { (1...3).contains(rawValue) }
}

extension MessageType: CustomStringConvertible {
  /// The word used for this type in listings.
  @usableFromInline package var description: String {
    let names = ["data", "command", "response", "notification", "test-command", "test-response"]
    return rawValue < names.count ? names[Int(rawValue)] : "reserved-\(rawValue)"
  }
}

/// The direction of a packet on the wire.
public enum PacketDirection: Hashable, Sendable {
  /// Chip to host.
  case inbound
  /// Host to chip.
  case outbound
}

extension MessageType {
  /// The direction of packets of this type; nil for data, which has both directions, and for types
  /// whose use is unknown.
  package var direction: PacketDirection? {
    switch self {
    case .command, .testCommand: .outbound
    case .response, .notification, .testResponse: .inbound
    default: nil
    }
  }
}
