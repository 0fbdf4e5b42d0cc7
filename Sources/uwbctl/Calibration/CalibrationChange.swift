// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UWBLink

/// Values that are to be written, beside those that are there.
struct CalibrationChange {
  let device: UWBDevice
  /// What differs.
  let changes: [(new: CalibrationEntry, old: [UInt8])]
  private let format: OutputFormat
  private let printer: CalibrationPrinter

  init(
    _ device: UWBDevice, _ wanted: [CalibrationEntry], _ format: OutputFormat
  ) async throws {
    self.device = device
    self.format = format
    printer = CalibrationPrinter(device, wanted)
    let present = try await device.calibration(wanted.map(\.name))
    changes = wanted.compactMap { entry in
      let old = present.first { $0.name == entry.name }?.bytes ?? []
      return old == entry.bytes ? nil : (entry, old)
    }
  }

  /// Shows what is to change, asks, writes and reads back.
  ///
  /// - Parameters:
  ///   - warning: shown above the question.
  ///   - isWhole: values that belong together: a signal waits for the last of them, and when one
  ///     fails those before it get their old bytes again.
  func carryOut(
    _ consent: Consent, warning: String? = nil, isWhole: Bool = false
  ) async throws {
    guard !changes.isEmpty else {
      standardError.write("Nothing to change: the chip has these values already.\n")
      return
    }
    for change in changes {
      standardOutput.write(printer.line(change.new, was: change.old, format) + "\n")
    }
    if let warning { standardError.write("uwbctl: \(printable(warning))\n") }
    if !consent.yes {
      let count = changes.count == 1 ? "1 value" : "\(changes.count) values"
      guard standardInputIsTerminal else {
        standardError.write(
          "uwbctl: Nothing was written: there is nobody to ask.\n  try: --yes writes without "
            + "asking.\n")
        throw ExitCode(ExitStatus.usage.rawValue)
      }
      let question = "Write \(count) to \(printable(device.endpoint.description))? [y/N] "
      guard let answer = try await Prompt.shared.ask(question),
        ["y", "yes"].contains(answer.lowercased())
      else {
        standardError.write("Nothing was written.\n")
        throw ExitCode(ExitStatus.usage.rawValue)
      }
    }
    try Task.checkCancellation()
    if isWhole { try await writeWhole() } else { try await device.calibrate(changes.map(\.new)) }
    standardError.write(
      "\(changes.count) written and read back.\n")
  }

  private func writeWhole() async throws {
    let (device, changes) = (device, changes)
    // A task of its own is not cancelled with this one.
    try await Task {
      do { try await device.calibrate(changes.map(\.new)) } catch {
        for change in changes where !change.old.isEmpty {
          try? await device.calibrate([
            CalibrationEntry(name: change.new.name, bytes: change.old)
          ])
        }
        throw error
      }
    }.value
  }
}
