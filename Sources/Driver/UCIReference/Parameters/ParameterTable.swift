// SPDX-License-Identifier: Apache-2.0

package import UCI

/// Rows about parameters, found by their identifiers. An identifier with different uses by vendor
/// or version has several rows.
package struct ParameterTable<ID: Hashable & Sendable>: Sendable {
  package let rows: [Parameter<ID>]
  private let byID: [ID: [Parameter<ID>]]

  init(_ rows: [Parameter<ID>]...) {
    self.rows = rows.flatMap(\.self)
    byID = Dictionary(grouping: self.rows, by: \.id)
  }

  /// Returns the row for a chip of this dialect, or else the nearest row.
  ///
  /// Another vendor's meaning is the last choice. Then the length of the value, where it is known,
  /// is better evidence than the version that the chip reports. Then a vendor's own meaning comes
  /// before the general one.
  func row(of id: ID, in dialect: Dialect, length: Int?) -> Parameter<ID>? {
    func misfit(_ row: Parameter<ID>) -> Int {
      let isForeign = !row.vendors.isEmpty && !row.vendors.contains(dialect.vendor)
      let fits = length.map { row.lengths.isEmpty || row.lengths.contains($0) } ?? true
      return (isForeign ? 8 : 0) + (fits ? 0 : 4)
        + (row.generations.contains(dialect.generation) ? 0 : 2) + (row.vendors.isEmpty ? 1 : 0)
    }
    return byID[id]?.min { misfit($0) < misfit($1) }
  }
}

/// An identifier that a table describes.
package protocol TabulatedID: Hashable, Sendable {
  static var table: ParameterTable<Self> { get }
  /// The name where the table has none, such as `APP_CONFIG_0x07`.
  var unknownName: String { get }
}

extension TabulatedID {
  /// Returns the row of the identifier for a chip of this dialect; nil if there is none.
  ///
  /// - Parameter length: bytes of the value, if known: they distinguish versions.
  package func parameter(in dialect: Dialect = .assumed, length: Int? = nil) -> Parameter<Self>? {
    Self.table.row(of: self, in: dialect, length: length)
  }

  /// The row for an unidentified chip.
  package var parameter: Parameter<Self>? { parameter() }

  /// Returns the name in the specification, or the vendor's name.
  package func name(in dialect: Dialect = .assumed) -> String {
    parameter(in: dialect)?.name ?? unknownName
  }
}

extension Parameter where ID: TabulatedID {
  package static var all: [Parameter] { ID.table.rows }
}

/// A number of one byte that identifies a parameter in one kind of message.
package protocol ByteParameterID: TabulatedID, RawRepresentable<UInt8>, ExpressibleByIntegerLiteral
{
  init(rawValue: UInt8)
  /// The beginning of the names of unknown parameters.
  static var prefix: String { get }
}

extension ByteParameterID {
  package init(integerLiteral value: UInt8) { self.init(rawValue: value) }
  package var unknownName: String { "\(Self.prefix)_\(hex(rawValue))" }
  package var name: String { name() }
}
