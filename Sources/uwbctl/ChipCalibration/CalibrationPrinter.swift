// SPDX-License-Identifier: Apache-2.0

import Glibc
import UWB
import UWBLab

var standardInputIsTerminal: Bool { isatty(STDIN_FILENO) != 0 }

/// Values of a calibration as lines of text or JSON.
struct CalibrationPrinter {
  private let scheme: CalibrationScheme
  private let width: Int

  init(_ device: UWBDevice, _ entries: [CalibrationEntry]) {
    scheme = device.profile.calibration
    width = (entries.map(\.name.count).max() ?? 0) + 2
  }

  private func text(_ entry: CalibrationEntry) -> String {
    scheme.value(named: entry.name)?.text(entry.bytes) ?? Self.hex(entry.bytes)
  }

  func line(_ entry: CalibrationEntry, _ format: OutputFormat) -> String {
    guard format == .json else {
      return printable(entry.name).left(width) + printable(text(entry))
    }
    return json(entry).text
  }

  /// A value that is to change.
  func line(_ entry: CalibrationEntry, was old: [UInt8], _ format: OutputFormat) -> String {
    let before = CalibrationEntry(name: entry.name, bytes: old)
    guard format == .json else {
      return printable(entry.name).left(width) + printable(text(before)) + " → "
        + printable(text(entry))
    }
    var line = json(entry)
    line.add("was", scheme.value(named: entry.name)?.plainText(old))
    line.add("was_hex", Self.hex(old))
    return line.text
  }

  private func json(_ entry: CalibrationEntry) -> JSONLine {
    let value = scheme.value(named: entry.name)
    var line = JSONLine()
    line.add("name", entry.name)
    line.add("value", value?.plainText(entry.bytes))
    line.add("unit", value?.unit)
    line.add("hex", Self.hex(entry.bytes))
    return line
  }

  /// What is known of a value, without a chip.
  static func line(_ value: CalibrationValue, _ format: OutputFormat) -> String {
    guard format == .json else {
      return value.name.left(42) + value.form.accepted
        + (value.unit.map { ", in \($0)" } ?? "") + (value.summary.map { ". \($0)" } ?? "")
    }
    var line = JSONLine()
    line.add("name", value.name)
    line.add("accepts", value.form.accepted)
    line.add("unit", value.unit)
    line.add("summary", value.summary)
    return line.text
  }

  private static func hex(_ bytes: [UInt8]) -> String { bytes.map(hexDigits).joined() }
}

extension CalibrationChange {
  /// Shows what changes, asks, writes and reads back.
  ///
  /// - Parameters:
  ///   - warning: shown above the question.
  ///   - isAtomic: see `write`.
  func confirmAndWrite(
    _ consent: Consent, _ format: OutputFormat = .text, warning: String? = nil,
    isAtomic: Bool = false
  ) async throws {
    guard !changes.isEmpty else {
      standardError.write("Nothing to change: the chip already has these values.\n")
      return
    }
    let printer = CalibrationPrinter(device, changes.map(\.new))
    for change in changes {
      standardOutput.write(printer.line(change.new, was: change.old, format) + "\n")
    }
    if let warning { standardError.write("uwbctl: \(printable(warning))\n") }
    if !consent.yes {
      guard standardInputIsTerminal else {
        throw Failure(
          .usage, "Nothing was written: no terminal to prompt on.", try: "Confirm with --yes.")
      }
      let count = changes.count == 1 ? "1 value" : "\(changes.count) values"
      let question = "Write \(count) to \(printable(device.endpoint.description))? [y/N] "
      guard let answer = try await Prompt.shared.ask(question),
        ["y", "yes"].contains(answer.lowercased())
      else { throw Failure(.usage, "Nothing was written.") }
    }
    try Task.checkCancellation()
    try await write(isAtomic: isAtomic)
    standardError.write("\(changes.count) written and read back.\n")
  }
}
