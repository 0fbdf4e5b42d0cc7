// SPDX-License-Identifier: Apache-2.0

public import UCI

extension DeviceConfigID {
  /// A parameter of the chip by its name or number: `LOW_POWER_MODE`, `0x01`, `0xE4:0x04`.
  ///
  /// Case and everything but letters and digits are left out of account. A name that vendors share
  /// is the one of this dialect.
  ///
  /// - Throws: `ParameterTextError.unknownName` with the nearest names.
  public init(named text: String, in dialect: Dialect) throws(ParameterTextError) {
    let wanted = plain(text)
    let numbers = text.split(separator: ":").compactMap { part -> UInt8? in
      guard let quantity = Quantity(trimmed(part)), quantity.decimals == 0, quantity.unit.isEmpty
      else { return nil }
      return UInt8(exactly: quantity.digits)
    }
    if let number = numbers.first, numbers.count <= 2,
      numbers.count == text.split(separator: ":").count
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
  public func form(in dialect: Dialect) -> ParameterForm {
    guard let row = parameter(in: dialect) else { return .unknown(name(in: dialect)) }
    return ParameterForm(row)
  }
}

extension ParameterForm {
  /// The form of a parameter of the chip.
  public init(_ parameter: DeviceConfigParameter) {
    let isNumber = parameter.format == .number || parameter.format == .mask
    self.init(
      name: parameter.name, lengths: parameter.lengths, unit: parameter.unit,
      range: parameter.range, values: parameter.values, isSecret: parameter.isSecret,
      kind: isNumber ? nil : .bytes)
  }
}

extension TLV {
  /// A parameter of the chip as a person writes it: `LOW_POWER_MODE=off`.
  ///
  /// - Throws: `ParameterTextError`.
  public init(deviceConfig text: String, in dialect: Dialect) throws(ParameterTextError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let id = try DeviceConfigID(named: trimmed(parts[0]), in: dialect)
    guard parts.count == 2 else { throw .noValue(id.name(in: dialect)) }
    let form = id.form(in: dialect)
    self.init(id, try form.bytes(from: String(parts[1]), for: dialect.generation))
  }
}
