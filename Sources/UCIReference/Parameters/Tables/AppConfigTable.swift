// SPDX-License-Identifier: Apache-2.0

public import UCI

/// A parameter of a session (SESSION_SET_APP_CONFIG, SESSION_GET_APP_CONFIG).
package typealias AppConfigParameter = Parameter<AppConfigID>

/// What is known of parameters of sessions.
///
/// Source: FiRa UCI application configuration parameters as published in the packet definitions of
/// AOSP and pica, in DW3_QM33_SDK 1.1.0 and NXP's UWBIoT API Reference Guide, and as accepted by real
/// chips. Defaults are those of the specification where the sources agree.
enum AppConfigTable {
  static let onOff: [UInt64: String] = [0: "off", 1: "on"]
  /// In the order of the identifiers.
  static let rows = (roles + schedule + reports + physical + sts + oneWay + vendors).enumerated()
    .sorted { ($0.element.id.rawValue, $0.offset) < ($1.element.id.rawValue, $1.offset) }.map(
      \.element)
}

extension AppConfigID: TabulatedID {
  package static let table = ParameterTable(AppConfigTable.rows)
  package var unknownName: String { "APP_CONFIG_\(hex(rawValue))" }
  /// The name in the specification; `APP_CONFIG_0xNN` where there is none.
  public var name: String { name(in: .assumed) }
}
