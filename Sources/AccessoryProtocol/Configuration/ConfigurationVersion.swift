// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// A version of the UWB part of the configuration data.
///
/// Sources: published captures of accessories (1.0, 1.1) and AOSP's ranging test application (all
/// three).
public enum ConfigurationVersion: Sendable, Hashable, Comparable, CaseIterable {
  /// 1.0: no clock drift.
  case v10
  /// 1.1: with the clock drift. iPhones and their accessories are seen to use it.
  case v11
  /// 2.0: the accessory can ask for slots, interval and hopping.
  case v20

  var major: UInt16 { self == .v20 ? 2 : 1 }
  var minor: UInt16 { self == .v11 ? 1 : 0 }

  init(from reader: inout PayloadReader, _ field: String) throws(PayloadError) {
    let major = try reader.u16(field)
    let minor = try reader.u16(field)
    guard let version = Self.allCases.first(where: { $0.major == major && $0.minor == minor })
    else {
      throw .invalid(field: field, reason: "is \(major).\(minor), not 1.0, 1.1 or 2.0")
    }
    self = version
  }

  func encode(into writer: inout PayloadWriter) {
    writer.u16(major)
    writer.u16(minor)
  }
}

extension ConfigurationVersion: CustomStringConvertible {
  /// For example `1.1`.
  public var description: String { "\(major).\(minor)" }
}
