// SPDX-License-Identifier: Apache-2.0

package import UCI

/// Rows about parameters, found by their identifiers. An identifier that vendors or versions use for
/// different things has several.
package struct ParameterTable<ID: Hashable & Sendable>: Sendable {
  package let rows: [Parameter<ID>]
  private let byID: [ID: [Parameter<ID>]]

  init(_ rows: [Parameter<ID>]...) {
    self.rows = rows.flatMap(\.self)
    byID = Dictionary(grouping: self.rows, by: \.id)
  }

  /// The row that a chip of this dialect means, else the one that comes nearest.
  ///
  /// What another vendor means by an identifier is the last thing to assume; then the length of the
  /// value, where it is known, says more than the version the chip claims to speak; then a vendor's
  /// own meaning comes before the general one.
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

/// An identifier of which a table knows more.
package protocol TabulatedID: Hashable, Sendable {
  static var table: ParameterTable<Self> { get }
  /// The name where the table has none, such as `APP_CONFIG_0x07`.
  var unknownName: String { get }
}

extension TabulatedID {
  /// What a chip of this dialect means by the identifier; nil where nothing is known.
  ///
  /// - Parameter length: bytes of the value, where they are known: they tell versions apart.
  package func parameter(in dialect: Dialect = .assumed, length: Int? = nil) -> Parameter<Self>? {
    Self.table.row(of: self, in: dialect, length: length)
  }

  /// What a chip that has not said anything means by it.
  package var parameter: Parameter<Self>? { parameter() }

  /// The name in the specification, or the one its vendor gives it.
  package func name(in dialect: Dialect = .assumed) -> String {
    parameter(in: dialect)?.name ?? unknownName
  }
}

extension Parameter where ID: TabulatedID {
  package static var all: [Parameter] { ID.table.rows }
}

/// A number of one byte that stands for a parameter in one kind of message.
package protocol ByteParameterID: TabulatedID, RawRepresentable<UInt8>, ExpressibleByIntegerLiteral
{
  init(rawValue: UInt8)
  /// What the name of an unknown one begins with.
  static var prefix: String { get }
}

extension ByteParameterID {
  package init(integerLiteral value: UInt8) { self.init(rawValue: value) }
  package var unknownName: String { "\(Self.prefix)_\(hex(rawValue))" }
  package var name: String { name() }
}
