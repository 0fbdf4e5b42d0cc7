// SPDX-License-Identifier: Apache-2.0

/// Which way a packet went over the wire.
public enum PacketDirection: Hashable, Sendable {
  /// Chip to host.
  case inbound
  /// Host to chip.
  case outbound
}

extension MessageType {
  /// The way that packets of this type go; nil for data, which goes both ways, and for types whose
  /// use is not known.
  public var direction: PacketDirection? {
    switch self {
    case .command, .testCommand: .outbound
    case .response, .notification, .testResponse: .inbound
    default: nil
    }
  }
}
