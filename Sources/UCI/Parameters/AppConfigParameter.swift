// SPDX-License-Identifier: Apache-2.0

/// What is known of a parameter of a session.
public struct AppConfigParameter: Sendable {
  /// Which parameter.
  public let id: AppConfigID
  /// Its name in the specification.
  public let name: String
  /// Octets its value may have; empty where the length depends on other parameters.
  public let lengths: [Int]
  /// Unit of a number, for example `ms` or `RSTU`; nil for codes, masks and octets.
  public let unit: String?
  /// Values a number may have; nil where that is not known or the value is not a number.
  public let range: ClosedRange<UInt64>?
  /// What the chip assumes when the host says nothing; nil where there is none.
  public let defaultValue: UInt64?
  /// What the values mean in words; empty for numbers and octets.
  public let values: [UInt64: String]

  init(
    _ id: AppConfigID, _ name: String, _ lengths: [Int], unit: String? = nil,
    range: ClosedRange<UInt64>? = nil, default defaultValue: UInt64? = nil,
    values: [UInt64: String] = [:]
  ) {
    self.id = id
    self.name = name
    self.lengths = lengths
    self.unit = unit
    self.range = range
    self.defaultValue = defaultValue
    self.values = values
  }

  /// Every parameter that is known, in the order of the identifiers.
  public static let all: [AppConfigParameter] = fira + later + vendors

  static let table = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
}
