// SPDX-License-Identifier: Apache-2.0

public import UCI

extension Status: CustomStringConvertible {
  /// The name in the specification; `STATUS_0xNN` if no name is common to all vendors.
  public var description: String { Self.table.shared(rawValue)?.name ?? "STATUS_\(hex(rawValue))" }

  /// The meaning in plain words; for a vendor's value, the meaning of each vendor; nil if no
  /// meaning is known.
  package var explanation: String? { Self.table.words(for: rawValue) }

  /// Returns meaning, causes and steps to try for chips with this dialect; nil if no meaning is
  /// known.
  public func explained(in dialect: Dialect = .assumed) -> CodeExplanation? {
    Self.table.meaning(of: rawValue, in: dialect)
  }

  static let table = CodeTable(general, ranging, vendors)
}

extension DeviceState: CustomStringConvertible {
  /// The name in the specification, or NXP's name.
  public var description: String {
    Self.table.meanings(of: rawValue).first?.name ?? "DEVICE_STATE_\(hex(rawValue))"
  }

  /// The meaning, causes and steps to try; nil if no meaning is known.
  public var explanation: CodeExplanation? { Self.table.meanings(of: rawValue).first }
}

extension SessionState: CustomStringConvertible {
  /// The name in the specification.
  public var description: String {
    let names = ["INIT", "DEINIT", "ACTIVE", "IDLE"]
    return rawValue < names.count ? names[Int(rawValue)] : "SESSION_STATE_\(hex(rawValue))"
  }
}

extension StateChangeReason: CustomStringConvertible {
  /// The name in the specification; `REASON_0xNN` if no name is common to all vendors.
  public var description: String { Self.table.shared(rawValue)?.name ?? "REASON_\(hex(rawValue))" }

  /// The meaning in plain words; for a vendor's reason, the meaning of each vendor; nil if no
  /// meaning is known.
  package var explanation: String? { Self.table.words(for: rawValue) }

  /// Returns meaning, causes and steps to try for chips with this dialect; nil if no meaning is
  /// known.
  public func explained(in dialect: Dialect = .assumed) -> CodeExplanation? {
    Self.table.meaning(of: rawValue, in: dialect)
  }

  static let table = CodeTable(general, configuration, vendors)
}

extension DataTransferStatus: CustomStringConvertible {
  /// A name for listings; `DATA_STATUS_0xNN` if the code has none.
  package var description: String {
    Self.table.shared(rawValue)?.name ?? "DATA_STATUS_\(hex(rawValue))"
  }

  /// The meaning, causes and steps to try; nil if no meaning is known.
  package var explanation: CodeExplanation? { Self.table.shared(rawValue) }
}

extension MulticastStatus: CustomStringConvertible {
  /// A name for listings; `MULTICAST_STATUS_0xNN` if the code has none.
  public var description: String {
    Self.table.shared(rawValue)?.name ?? "MULTICAST_STATUS_\(hex(rawValue))"
  }

  /// The meaning, causes and steps to try; nil if no meaning is known.
  public var explanation: CodeExplanation? { Self.table.shared(rawValue) }
}
