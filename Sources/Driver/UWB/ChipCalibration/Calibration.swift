// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import UCI
public import UWBLink

/// The way in which a family of chips stores its calibration.
package enum CalibrationScheme: Sendable, Hashable {
  case unknown
  /// Values with names as keys (Qorvo's group 0xE).
  case namedKeys
  /// Numbered parameters of each channel (NXP's group 0xF).
  case numberedParameters

  /// All known values, in the order of the scheme.
  package var values: [CalibrationValue] {
    switch self {
    case .unknown: []
    case .namedKeys: QorvoCalibrationTable.values
    case .numberedParameters: NXPCalibrationTable.values
    }
  }

  /// Returns the description of a value; nil for an unknown name.
  package func value(named name: String) -> CalibrationValue? {
    switch self {
    case .unknown: nil
    case .namedKeys: QorvoCalibrationTable.value(named: name)
    case .numberedParameters: NXPCalibrationTable.value(named: name)
    }
  }
}

/// The description of one value of a calibration.
package struct CalibrationValue: Sendable, Hashable {
  /// The name, for example `ant0.ch9.ant_delay` or `ch9.rx_ant_delay`.
  package var name: String
  /// The form of its bytes.
  package var form: CalibrationForm
  /// The unit of its numbers; nil where there is none, or it is unknown.
  package var unit: String?
  /// The meaning in one sentence; nil where the name is clear.
  package var summary: String?

  init(_ name: String, _ form: CalibrationForm, unit: String? = nil, _ summary: String? = nil) {
    self.name = name
    self.form = form
    self.unit = unit
    self.summary = summary
  }

  func named(_ name: String) -> CalibrationValue { .init(name, form, unit: unit, summary) }

  /// Returns the value as users write it, with its unit. Bytes that do not have the known form are
  /// returned in hexadecimal.
  package func text(_ bytes: [UInt8]) -> String {
    guard let text = form.text(bytes) else { return CalibrationForm.raw(bytes) }
    return unit.map { "\(text) \($0)" } ?? text
  }

  /// Returns the value as users write it, without the unit.
  package func plainText(_ bytes: [UInt8]) -> String {
    form.text(bytes) ?? CalibrationForm.raw(bytes)
  }

  /// Returns the bytes of a value as users write it; the unit may be left out.
  ///
  /// - Throws: `CalibrationError.unreadable`.
  package func bytes(from text: String) throws(CalibrationError) -> [UInt8] {
    var plain = text.trimmed
    if let unit, plain.hasSuffix(unit) { plain = String(plain.dropLast(unit.count)).trimmed }
    guard let bytes = CalibrationForm.rawBytes(plain) ?? form.bytes(from: plain) else {
      throw .unreadable(name: name, value: text, accepted: form.accepted)
    }
    return bytes
  }
}

/// A value of a calibration on the chip.
public struct CalibrationEntry: Sendable, Hashable {
  /// The name of a `CalibrationValue`.
  public var name: String
  /// The bytes in the order of the wire, at most 255.
  public var bytes: [UInt8]

  /// Creates an entry to write with `UWBDevice.calibrate`.
  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}

/// The reason why a calibration could not be read or written. Switch over it with a `default`:
/// cases may be added.
public enum CalibrationError: Error, Sendable, Hashable {
  /// The calibration format of this chip is unknown.
  case unsupported(chip: String)
  /// There is no value with this name; `nearest` has the closest names.
  case unknownName(String, nearest: [String])
  /// The value does not have an accepted form.
  case unreadable(name: String, value: String, accepted: String)
  /// The value has another number of bytes on the chip.
  case wrongLength(name: String, expected: Int, given: Int)
  /// The chip refused to read or write the value, with this status.
  case refused(name: String, status: String, code: UInt8)
  /// The chip accepted the value, but has stored another one.
  case notKept(name: String, wrote: [UInt8], read: [UInt8])
  /// The device failed.
  case device(DriverError)
}

extension CalibrationError: DescribedError {
  /// The cause in one sentence.
  public var description: String {
    switch self {
    case .unsupported(let chip): "How a \(chip) keeps its calibration is not known."
    case .unknownName(let name, []): "There is no calibration value \(name)."
    case .unknownName(let name, let nearest):
      "There is no calibration value \(name). Nearest: \(nearest.joined(separator: ", "))."
    case .unreadable(let name, let value, let accepted):
      "\(name) does not take \(value); it takes \(accepted)."
    case .wrongLength(let name, let expected, let given):
      "\(name) has \(counted(expected, "byte")) on this chip, not \(given)."
    case .refused(let name, let status, let code):
      "The device refused \(name): \(status) (0x\(String(code, radix: 16, uppercase: true)))."
    case .notKept(let name, let wrote, let read):
      "The device took \(CalibrationForm.raw(wrote)) for \(name), but has "
        + "\(CalibrationForm.raw(read)) now."
    case .device(let error): error.description
    }
  }

  /// The next step to try; nil where there is none beyond the cause itself.
  public var recoverySuggestion: String? {
    switch self {
    case .unsupported:
      "Open the device as a chip of its maker, if you know the maker."
    case .refused: "This firmware may not have it; reading the calibration lists its values."
    case .device(let error): error.recoverySuggestion
    default: nil
    }
  }
}

extension String {
  /// The text without blanks at its ends.
  var trimmed: String {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let front = drop(while: isBlank)
    guard let last = front.lastIndex(where: { !isBlank($0) }) else { return "" }
    return String(front[...last])
  }
}
