// SPDX-License-Identifier: Apache-2.0

import UCI

/// What is known of capabilities: their numbers and how their values read.
///
/// Sources: FiRa's, CCC's and Android's as published in AOSP's packet definitions and capability
/// parameters; NXP's in nxp-uwb/sr250-uwbiot-zephyr and its UWBIoT API Reference Guide; all as real
/// chips send them.
enum CapabilityTable {
  /// A capability with its numbers.
  struct Row: Sendable {
    var parameter: CapabilityParameter
    /// Its number in FiRa UCI 1.x; nil where it does not exist there.
    var fira1: UInt8?
    /// Its number in FiRa UCI 2.0 and later; nil where it does not exist there.
    var fira2: UInt8?
    /// Numbers of two bytes that older firmware of NXP gives it.
    var older: Key?

    func number(in numbering: CapabilityID.Numbering) -> UInt8? {
      numbering == .fira1 ? fira1 : fira2
    }
  }

  /// A number on the wire.
  struct Key: Hashable, Sendable {
    var number: UInt8
    var subID: UInt8?
  }

  static let rows: [Row] = fira + others
  private static let byID = Dictionary(rows.map { ($0.parameter.id, $0) }) { first, _ in first }
  static let numbers: [CapabilityID.Numbering: [Key: CapabilityID]] = [
    .fira1: numbers(in: .fira1), .fira2: numbers(in: .fira2),
  ]

  static func row(of id: CapabilityID) -> Row? { byID[id] }

  private static func numbers(in numbering: CapabilityID.Numbering) -> [Key: CapabilityID] {
    var table: [Key: CapabilityID] = [:]
    for row in rows {
      if let number = row.number(in: numbering) {
        table[Key(number: number, subID: nil)] = row.parameter.id
      }
      if let older = row.older { table[older] = row.parameter.id }
    }
    return table
  }

  static func row(
    _ id: CapabilityID, _ fira1: UInt8?, _ fira2: UInt8?, _ lengths: [Int],
    format: ParameterFormat = .number, unit: String? = nil, values: [UInt64: String] = [:],
    vendors: [Dialect.Vendor] = [], older: Key? = nil, summary: String = ""
  ) -> Row {
    Row(
      parameter: CapabilityParameter(
        id, id.rawValue, lengths, format: format, unit: unit, values: values, readOnly: true,
        vendors: vendors, summary: summary), fira1: fira1, fira2: fira2, older: older)
  }

  /// What a flag of one byte says.
  static let yesNo: [UInt64: String] = [0: "no", 1: "yes"]
  /// The bits of a mask, from the lowest on.
  static func bits(_ names: String...) -> [UInt64: String] {
    Dictionary(uniqueKeysWithValues: names.enumerated().map { (UInt64($0.offset), $0.element) })
  }
  /// Bit 0 is called `first`, and so on.
  static func counted(from first: Int, _ count: Int) -> [UInt64: String] {
    Dictionary(uniqueKeysWithValues: (0..<count).map { (UInt64($0), String(first + $0)) })
  }
}
