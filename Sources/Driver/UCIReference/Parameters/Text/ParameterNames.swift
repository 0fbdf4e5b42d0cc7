// SPDX-License-Identifier: Apache-2.0

public import UCI

extension AppConfigID {
  /// Returns a parameter by its name, an older name, or its number.
  ///
  /// Ignores case and everything but letters and digits: `slot-duration` is SLOT_DURATION.
  ///
  /// - Throws: `ParameterTextError.unknownName` with the nearest names.
  public init(named text: String) throws(ParameterTextError) {
    if let number = Quantity.number(text).flatMap(UInt8.init(exactly:)) {
      self.init(rawValue: number)
    } else if let found = Self.byName[plain(text)] {
      self = found
    } else {
      let names = AppConfigParameter.all.map(\.name)
      throw .unknownName(text, nearest: nearestNames(to: text, in: names))
    }
  }

  /// The identifiers by the letters and digits of their names. Names of described parameters come
  /// first, then older names, then the names of undescribed numbers.
  private static let byName: [[UInt8]: AppConfigID] = {
    let known = AppConfigParameter.all.map { (plain($0.name), $0.id) }
    let older = olderNames.map { (plain($0.name), $0.id) }
    let numbers = (0...UInt8.max).map { AppConfigID(rawValue: $0) }.map { (plain($0.name), $0) }
    return Dictionary(known + older + numbers) { first, _ in first }
  }()

  // Source: FiRa UCI 1.x as published in AOSP's and pica's packet definitions; Qorvo's tools.
  private static let olderNames: [(name: String, id: AppConfigID)] = [
    ("RANGING_INTERVAL", .rangingDuration), ("RNG_DATA_NTF", .sessionInfoNotificationConfig),
    ("RANGE_DATA_NTF_CONFIG", .sessionInfoNotificationConfig),
    ("RNG_DATA_NTF_PROXIMITY_NEAR", .nearProximity),
    ("RNG_DATA_NTF_PROXIMITY_FAR", .farProximity), ("STATIC_STS", .staticSTSIV),
    ("NO_OF_CONTROLEE", .numberOfControlees), ("NUMBER_OF_CONTROLEE", .numberOfControlees),
    ("RFRAME_CONF", .rframeConfig), ("PREAMBLE_ID", .preambleCodeIndex),
    ("BLOCK_STRIDING", .blockStrideLength), ("RANGING_METHOD", .rangingRoundUsage),
  ]
}

extension DeviceConfigID {
  /// Returns a parameter of the chip by its name or number: `LOW_POWER_MODE`, `0x01`, `0xE4:0x04`.
  ///
  /// Ignores case and everything but letters and digits. A name that vendors share means the
  /// parameter of this dialect.
  ///
  /// - Throws: `ParameterTextError.unknownName` with the nearest names.
  package init(named text: String, in dialect: Dialect) throws(ParameterTextError) {
    let wanted = plain(text)
    let parts = text.split(separator: ":")
    let numbers = parts.compactMap { Quantity.number($0).flatMap(UInt8.init(exactly:)) }
    if let number = numbers.first, numbers.count <= 2, numbers.count == parts.count {
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
}

extension TabulatedID {
  /// Returns the notation of values of this parameter for a chip of this dialect.
  package func form(in dialect: Dialect = .assumed) -> ParameterForm {
    parameter(in: dialect).map { ParameterForm($0) } ?? .unknown(unknownName)
  }

  /// Returns the bytes of a value that follows the name; throws `ParameterTextError` for an invalid
  /// or missing value.
  fileprivate func bytes(
    _ text: String?, _ dialect: Dialect, for generation: Dialect.Generation
  ) throws(ParameterTextError) -> [UInt8] {
    guard let text else { throw .noValue(name(in: dialect)) }
    return try form(in: dialect).bytes(from: text, for: generation)
  }
}

extension TLV {
  /// Reads a parameter of a session from text: `SLOT_DURATION=2ms`, `0x1B=25`.
  ///
  /// - Parameters:
  ///   - text: a name or number and a value, joined by `=`.
  ///   - generation: determines the length of parameters that have more than one length.
  /// - Throws: `ParameterTextError`.
  public init(
    appConfig text: String, for generation: Dialect.Generation = .fira2
  ) throws(ParameterTextError) {
    let (name, value) = Self.halves(of: text)
    let id = try AppConfigID(named: name)
    self.init(id, try id.bytes(value, .assumed, for: generation))
  }

  /// Reads a parameter of the chip from text: `LOW_POWER_MODE=off`.
  ///
  /// - Throws: `ParameterTextError`.
  package init(deviceConfig text: String, in dialect: Dialect) throws(ParameterTextError) {
    let (name, value) = Self.halves(of: text)
    let id = try DeviceConfigID(named: name, in: dialect)
    self.init(id, try id.bytes(value, dialect, for: dialect.generation))
  }

  private static func halves(of text: String) -> (name: String, value: String?) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    return (trimmed(parts[0]), parts.count == 2 ? String(parts[1]) : nil)
  }

  /// Returns a parameter of a session in the form that `init(appConfig:for:)` reads; secrets only
  /// if requested.
  public func appConfigText(includingSecrets: Bool = false) -> String {
    let id = AppConfigID(rawValue: id)
    return id.name + "="
      + (id.isSecret && !includingSecrets ? "(hidden)" : id.form().text(value))
  }
}

/// The reason why a parameter that a user wrote is invalid. It never contains the value of a secret
/// parameter.
public enum ParameterTextError: Error, Hashable, Sendable {
  /// No parameter has this name; the closest names.
  case unknownName(String, nearest: [String])
  /// A name without `=` and a value.
  case noValue(String)
  /// The value does not have a form that this parameter accepts.
  case unreadable(parameter: String, value: String, accepted: String)
  /// The value is outside its range.
  case outOfRange(parameter: String, value: String, accepted: String)
  /// The value is not a whole number of the parameter's unit.
  case notWhole(parameter: String, value: String, unit: String)
}

extension ParameterTextError: CustomStringConvertible {
  /// The parameter and its accepted values, in one sentence.
  public var description: String {
    switch self {
    case .unknownName(let name, []): "There is no parameter \(name)."
    case .unknownName(let name, let nearest):
      "There is no parameter \(name). Nearest: \(nearest.joined(separator: ", "))."
    case .noValue(let name): "\(name) lacks a value: write NAME=value."
    case .unreadable(let parameter, let value, let accepted):
      "\(parameter) does not take \(value); it takes \(accepted)."
    case .outOfRange(let parameter, let value, let accepted):
      "\(value) is outside the range of \(parameter); it takes \(accepted)."
    case .notWhole(let parameter, let value, let unit):
      "\(value) is not a whole number of \(unit), in which \(parameter) is counted."
    }
  }
}
