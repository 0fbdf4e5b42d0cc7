// SPDX-License-Identifier: Apache-2.0

package import UCI

/// What is known of a parameter: one row of a table.
///
/// Parameters of sessions, of chips, of radio tests and capabilities have the same shape, so that
/// values of all of them are shown, read and checked in one way. An identifier that
/// means different things in different dialects has several rows; `ParameterTable` chooses.
package struct Parameter<ID: Hashable & Sendable>: Sendable {
  /// Which parameter.
  package let id: ID
  /// Its name in the specification or as the vendor publishes it.
  package let name: String
  /// What it is, in one sentence; empty where the name is all that is known.
  package let summary: String
  /// Bytes its value may have; empty where the length depends on other parameters or is not known.
  package let lengths: [Int]
  /// How the bytes of the value are read.
  package let format: ParameterFormat
  /// Unit of a number, for example `ms` or `RSTU`; nil for codes, masks and bytes.
  package let unit: String?
  /// Values a number may have; nil where that is not known or the value is not a number.
  package let range: ClosedRange<UInt64>?
  /// What the chip assumes when the host says nothing; nil where there is none, it is not known, or
  /// the value is no number.
  package let defaultValue: UInt64?
  /// What the values mean in words, or of a mask what the bits mean, by their number.
  package let values: [UInt64: String]
  /// Who has to agree on the value.
  package let scope: ParameterScope
  /// A session does not leave INIT without it.
  package let isMandatory: Bool
  /// The value is key material or an initialisation vector and does not belong into logs.
  package let isSecret: Bool
  /// The chip refuses to have it set.
  package let isReadOnly: Bool
  /// The specifications in which the parameter has this meaning.
  package let generations: ClosedRange<Dialect.Generation>
  /// The vendors that use the identifier like this; empty for all.
  package let vendors: [Dialect.Vendor]

  init(
    _ id: ID, _ name: String, _ lengths: [Int] = [], format: ParameterFormat = .number,
    unit: String? = nil, range: ClosedRange<UInt64>? = nil, default defaultValue: UInt64? = nil,
    values: [UInt64: String] = [:], scope: ParameterScope = .own, mandatory: Bool = false,
    secret: Bool = false, readOnly: Bool = false,
    generations: ClosedRange<Dialect.Generation> = .fira1 ... .fira3,
    vendors: [Dialect.Vendor] = [], summary: String = ""
  ) {
    self.id = id
    self.name = name
    self.summary = summary
    self.lengths = lengths
    self.format = format
    self.unit = unit
    self.range = range
    self.defaultValue = defaultValue
    self.values = values
    self.scope = scope
    self.isMandatory = mandatory
    self.isSecret = secret
    self.isReadOnly = readOnly
    self.generations = generations
    self.vendors = vendors
  }

  /// Whether a chip of this dialect means this row by the identifier.
  package func applies(to dialect: Dialect) -> Bool {
    (vendors.isEmpty || vendors.contains(dialect.vendor))
      && generations.contains(dialect.generation)
  }
}

/// Who has to agree on the value of a parameter of a session.
package enum ParameterScope: String, Sendable, CaseIterable {
  /// Each device has its own value.
  case own
  /// Both peers need the same value, or they do not range.
  case equalOnBothPeers
  /// The controller decides and tells the controlee on the air.
  case controller
  /// A controlee's own, which its controller has to know.
  case controlee
}

/// `DEVICE_CONFIG_0xE4_0x04`
func unknownParameter(_ prefix: String, _ number: UInt8, _ subID: UInt8?) -> String {
  ([prefix, hex(number)] + (subID.map { [hex($0)] } ?? [])).joined(separator: "_")
}
