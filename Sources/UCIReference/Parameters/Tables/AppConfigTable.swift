// SPDX-License-Identifier: Apache-2.0

public import UCI

/// A parameter of a session (SESSION_SET_APP_CONFIG, SESSION_GET_APP_CONFIG).
public typealias AppConfigParameter = Parameter<AppConfigID>

/// What is known of parameters of sessions: one row each, more where vendors or versions disagree.
enum AppConfigTable {
  static let onOff: [UInt64: String] = [0: "off", 1: "on"]
  static let rows = first + second + third + vendors
  static let index = AppConfigParameter.index(rows)
}

extension AppConfigParameter {
  /// Every row that is known, in the order of the identifiers. An identifier that vendors or versions
  /// use for different things has several; `AppConfigID.parameter(in:)` chooses one.
  public static var all: [AppConfigParameter] { AppConfigTable.rows }
}

extension AppConfigID {
  /// What is known of the parameter as a chip of this dialect means it; nil where nothing is.
  ///
  /// - Parameter length: bytes of the value, where they are known: they tell versions apart.
  public func parameter(in dialect: Dialect, length: Int? = nil) -> AppConfigParameter? {
    AppConfigParameter.best(of: AppConfigTable.index[self], in: dialect, length: length)
  }
  /// What is known of the parameter as a chip that has not said anything means it; nil where nothing
  /// is.
  public var parameter: AppConfigParameter? { parameter(in: .assumed) }
  /// The name in the specification; `APP_CONFIG_0xNN` where there is none.
  public var name: String { name(in: .assumed) }
  /// The name a chip of this dialect gives it; `APP_CONFIG_0xNN` where there is none.
  public func name(in dialect: Dialect) -> String {
    parameter(in: dialect)?.name ?? "APP_CONFIG_\(hex(rawValue))"
  }
}
