// SPDX-License-Identifier: Apache-2.0

/// A measurement of a SESSION_INFO_NTF. The size of its address stands in front of all of them.
package protocol MeasurementFields: Sendable {
  /// A value to read into.
  init()
  /// Shows every field to a coder.
  mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, isExtended: Bool
  ) throws(PayloadError)
}

extension FieldCoder where Self: ~Escapable {
  /// An angle with its figure of merit.
  mutating func angle(_ name: StaticString, _ angle: inout Angle) throws(PayloadError) {
    try field(name, &angle.raw)
    try field(name, &angle.figureOfMerit)
  }

  /// Measurements of one type.
  mutating func measurements<M: MeasurementFields>(
    _ list: inout [M], _ count: UInt8, isExtended: Bool, blank: M = M()
  ) throws(PayloadError) {
    try self.list(
      "measurements", &list, .exactly(Int(count)), blank: blank
    ) { c, measurement throws(PayloadError) in
      try measurement.visit(&c, isExtended: isExtended)
    }
  }
}

extension MeasurementFields {
  /// Reads one measurement; throws `PayloadError` where the payload ends.
  package init(from reader: inout PayloadReader, extendedAddress: Bool) throws(PayloadError) {
    self.init()
    var coder = FieldReader(reader, .assumed)
    try visit(&coder, isExtended: extendedAddress)
    reader = coder.reader
  }

  /// Writes one measurement.
  package func encode(into writer: inout PayloadWriter, extendedAddress: Bool) {
    var coder = FieldWriter(writer: writer, dialect: .assumed)
    var fields = self
    // Writing does not throw.
    try? fields.visit(&coder, isExtended: extendedAddress)
    writer = coder.writer
  }
}
