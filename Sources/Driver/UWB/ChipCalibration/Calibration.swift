// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import UCI
public import UWBLink

/// How a family of chips keeps its calibration.
package enum CalibrationScheme: Sendable, Hashable {
  case unknown
  /// Values by the names of keys (Qorvo's group 0xE).
  case namedKeys
  /// Numbered parameters of each channel (NXP's group 0xF).
  case numberedParameters

  /// Every value that is known, by its name; those of a scheme in their order.
  package var values: [CalibrationValue] {
    switch self {
    case .unknown: []
    case .namedKeys: QorvoCalibrationTable.values
    case .numberedParameters: NXPCalibrationTable.values
    }
  }

  /// What is known of a value; nil where there is nothing by this name.
  package func value(named name: String) -> CalibrationValue? {
    switch self {
    case .unknown: nil
    case .namedKeys: QorvoCalibrationTable.value(named: name)
    case .numberedParameters: NXPCalibrationTable.value(named: name)
    }
  }
}

/// What is known of one value of a calibration.
package struct CalibrationValue: Sendable, Hashable {
  /// For example `ant0.ch9.ant_delay`, or `ch9.rx_ant_delay`.
  package var name: String
  /// How its bytes are read.
  package var form: CalibrationForm
  /// Unit of its numbers; nil where they have none, or it is not known.
  package var unit: String?
  /// One sentence; nil where the name says it all.
  package var summary: String?

  init(_ name: String, _ form: CalibrationForm, unit: String? = nil, _ summary: String? = nil) {
    self.name = name
    self.form = form
    self.unit = unit
    self.summary = summary
  }

  func named(_ name: String) -> CalibrationValue { .init(name, form, unit: unit, summary) }

  /// The value as people write it, with its unit; bytes in hexadecimal where they do not have the
  /// form that is known.
  package func text(_ bytes: [UInt8]) -> String {
    guard let text = form.text(bytes) else { return CalibrationForm.raw(bytes) }
    return unit.map { "\(text) \($0)" } ?? text
  }

  /// The same without the unit.
  package func plainText(_ bytes: [UInt8]) -> String {
    form.text(bytes) ?? CalibrationForm.raw(bytes)
  }

  /// The bytes of a value as people write it; its unit may be left out.
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

/// A value of a calibration, as the chip has it.
public struct CalibrationEntry: Sendable, Hashable {
  /// See `CalibrationValue`.
  public var name: String
  /// In the order of the wire, at most 255.
  public var bytes: [UInt8]

  /// Creates an entry to write with `UWBDevice.calibrate`.
  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}

/// Why a calibration could not be read or written. Switch over it with a `default`: cases may be
/// added.
public enum CalibrationError: Error, Sendable, Hashable {
  /// How this chip keeps its calibration is not known.
  case unsupported(chip: String)
  /// There is no value by this name; those closest to it.
  case unknownName(String, nearest: [String])
  /// The value is not written in a form that it can have.
  case unreadable(name: String, value: String, accepted: String)
  /// The chip has another number of bytes for it.
  case wrongLength(name: String, expected: Int, given: Int)
  /// The chip refused to read or write it; status by its name and number.
  case refused(name: String, status: String, code: UInt8)
  /// The chip took it and has something else.
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
      "\(name) has \(expected) bytes on this chip, not \(given)."
    case .refused(let name, let status, let code):
      "The device refused \(name): \(status) (0x\(String(code, radix: 16, uppercase: true)))."
    case .notKept(let name, let wrote, let read):
      "The device took \(CalibrationForm.raw(wrote)) for \(name), but has "
        + "\(CalibrationForm.raw(read)) now."
    case .device(let error): error.description
    }
  }

  /// What to try next; nil where there is nothing better than the cause itself.
  public var recoverySuggestion: String? {
    switch self {
    case .unsupported:
      "Open the device as a chip of its maker, if you know who that is."
    case .refused: "This firmware may not have it; reading the calibration shows what it has."
    case .device(let error): error.recoverySuggestion
    default: nil
    }
  }
}

extension String {
  /// Without blanks at its ends.
  var trimmed: String {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let front = drop(while: isBlank)
    guard let last = front.lastIndex(where: { !isBlank($0) }) else { return "" }
    return String(front[...last])
  }
}
