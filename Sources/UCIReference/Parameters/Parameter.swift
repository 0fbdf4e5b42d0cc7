// SPDX-License-Identifier: Apache-2.0

public import UCI

/// What is known of a parameter: one row of a table.
///
/// Parameters of sessions, of chips, of radio tests and capabilities have the same shape, so that
/// whoever shows, reads or checks a value does it for all of them in one way. An identifier that
/// means different things in different dialects has several rows; `Parameter.best` chooses.
public struct Parameter<ID: Hashable & Sendable>: Sendable {
  /// Which parameter.
  public let id: ID
  /// Its name in the specification or as the vendor publishes it.
  public let name: String
  /// What it is, in one sentence; empty where the name is all that is known.
  public let summary: String
  /// Bytes its value may have; empty where the length depends on other parameters or is not known.
  public let lengths: [Int]
  /// How the bytes of the value are read.
  public let format: ParameterFormat
  /// Unit of a number, for example `ms` or `RSTU`; nil for codes, masks and bytes.
  public let unit: String?
  /// Values a number may have; nil where that is not known or the value is not a number.
  public let range: ClosedRange<UInt64>?
  /// What the chip assumes when the host says nothing; nil where there is none, it is not known, or
  /// the value is no number.
  public let defaultValue: UInt64?
  /// What the values mean in words, or of a mask what the bits mean, by their number.
  public let values: [UInt64: String]
  /// Who has to agree on the value.
  public let scope: ParameterScope
  /// A session does not leave INIT without it.
  public let isMandatory: Bool
  /// The value is key material or an initialisation vector and does not belong into logs.
  public let isSecret: Bool
  /// The chip refuses to have it set.
  public let isReadOnly: Bool
  /// The specifications in which the parameter has this meaning.
  public let generations: ClosedRange<Dialect.Generation>
  /// Whose meaning of the identifier this is; empty: everyone's.
  public let vendors: [Dialect.Vendor]

  init(
    _ id: ID, _ name: String, _ lengths: [Int], format: ParameterFormat = .number,
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
  public func applies(to dialect: Dialect) -> Bool {
    (vendors.isEmpty || vendors.contains(dialect.vendor))
      && generations.contains(dialect.generation)
  }
}

/// Who has to agree on the value of a parameter of a session.
public enum ParameterScope: String, Sendable, CaseIterable {
  /// Each device has its own value.
  case own
  /// Both peers need the same value, or they do not range.
  case equalOnBothPeers
  /// The controller decides and tells the controlee on the air.
  case controller
  /// A controlee's own, which its controller has to know.
  case controlee
}

extension Parameter {
  /// Rows by identifier, in the order of the table.
  typealias Index = [ID: [Parameter]]

  static func index(_ rows: [Parameter]) -> Index { Dictionary(grouping: rows, by: \.id) }

  /// The row that a chip of this dialect means, else the one that comes nearest.
  ///
  /// What another vendor means by an identifier is the last thing to assume; then the length of the
  /// value, where it is known, says more than the version the chip claims to speak; then a vendor's
  /// own meaning comes before everyone's.
  static func best(of rows: [Parameter]?, in dialect: Dialect, length: Int? = nil) -> Parameter? {
    func misfit(_ row: Parameter) -> Int {
      let isForeign = !row.vendors.isEmpty && !row.vendors.contains(dialect.vendor)
      let fits = length.map { row.lengths.isEmpty || row.lengths.contains($0) } ?? true
      return (isForeign ? 8 : 0) + (fits ? 0 : 4)
        + (row.generations.contains(dialect.generation) ? 0 : 2) + (row.vendors.isEmpty ? 1 : 0)
    }
    return rows?.min { misfit($0) < misfit($1) }
  }
}
