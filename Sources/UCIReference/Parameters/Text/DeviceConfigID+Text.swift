// SPDX-License-Identifier: Apache-2.0

package import UCI

extension DeviceConfigID {
  /// A parameter of the chip by its name or number: `LOW_POWER_MODE`, `0x01`, `0xE4:0x04`.
  ///
  /// Ignores case and everything but letters and digits. A name that vendors share
  /// is the one of this dialect.
  ///
  /// - Throws: `ParameterTextError.unknownName` with the nearest names.
  package init(named text: String, in dialect: Dialect) throws(ParameterTextError) {
    let wanted = plain(text)
    let parts = text.split(separator: ":")
    let numbers = parts.compactMap { Quantity.number($0).flatMap(UInt8.init(exactly:)) }
    if let number = numbers.first, numbers.count <= 2,
      numbers.count == parts.count
    {
      self.init(number, numbers.count == 2 ? numbers[1] : nil)
      return
    }
    let fitting = DeviceConfigParameter.all.filter { plain($0.name) == wanted }
    guard let found = fitting.first(where: { $0.applies(to: dialect) }) ?? fitting.first else {
      let names = DeviceConfigParameter.all.filter { $0.applies(to: dialect) }.map(\.name)
      throw .unknownName(text, nearest: nearestNames(to: text, in: names))
    }
    self = found.id
  }

  /// How values of this parameter are written for a chip of this dialect.
  package func form(in dialect: Dialect) -> ParameterForm {
    guard let row = parameter(in: dialect) else { return .unknown(name(in: dialect)) }
    return ParameterForm(row)
  }
}

extension ParameterForm {
  /// The form of a parameter of the chip.
  package init(_ parameter: DeviceConfigParameter) {
    let isNumber = parameter.format == .number || parameter.format == .mask
    self.init(
      name: parameter.name, lengths: parameter.lengths, unit: parameter.unit,
      range: parameter.range, values: parameter.values, isSecret: parameter.isSecret,
      kind: isNumber ? nil : .bytes)
  }
}

extension TLV {
  /// Reads a parameter of the chip from text: `LOW_POWER_MODE=off`.
  ///
  /// - Throws: `ParameterTextError`.
  package init(deviceConfig text: String, in dialect: Dialect) throws(ParameterTextError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let id = try DeviceConfigID(named: trimmed(parts[0]), in: dialect)
    guard parts.count == 2 else { throw .noValue(id.name(in: dialect)) }
    let form = id.form(in: dialect)
    self.init(id, try form.bytes(from: String(parts[1]), for: dialect.generation))
  }
}
