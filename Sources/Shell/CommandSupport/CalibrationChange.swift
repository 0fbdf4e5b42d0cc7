// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import Formats
import UCI
package import UWB

/// The option to write without confirmation.
package struct Consent: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Ask no questions, and write at once.") package var yes = false

  package init() {}
}

/// A printed value of a calibration.
package struct PrintedValue {
  private let entry: CalibrationEntry
  private let value: CalibrationValue?
  /// The bytes in the chip before a change; empty if none is planned.
  package let old: [UInt8]

  package init(_ entry: CalibrationEntry, was old: [UInt8] = [], in scheme: CalibrationScheme) {
    (self.entry, self.old) = (entry, old)
    value = scheme.value(named: entry.name)
  }

  /// Returns the name, padded to the longest name of `others`.
  package func title(among others: [PrintedValue]) -> String {
    printable(entry.name).left((others.map(\.entry.name.count).max() ?? 0) + 2)
  }

  package var text: String { text(entry.bytes) }

  package func text(_ bytes: [UInt8]) -> String {
    printable(value?.text(bytes) ?? hexDigits(bytes))
  }

  package static let json = JSONTable<PrintedValue>("calibrate get", each: "value") { keys(&$0) }

  package static let changed = JSONTable<PrintedValue>("calibrate set", each: "value") {
    keys(&$0)
    $0.key("was", "former value") { $0.value?.plainText($0.old) }
    $0.key("was_hex", "its bytes") { hexDigits($0.old) }
  }

  private static func keys(_ keys: inout JSONTable<PrintedValue>) {
    keys.key("name", "name of the value") { $0.entry.name }
    keys.key("value", "value as text") { $0.value?.plainText($0.entry.bytes) }
    keys.key("unit", "unit of its numbers") { $0.value?.unit }
    keys.key("hex", "bytes in wire order") { hexDigits($0.entry.bytes) }
  }
}

extension CalibrationChange {
  /// Shows the changes, asks for confirmation, writes the values and reads them back.
  ///
  /// - Parameter warning: A text shown above the question.
  /// - Throws: `CancellationError` without confirmation, and the errors of `write`.
  package func confirmAndWrite(
    _ consent: Consent, _ format: OutputFormat = .text, warning: String? = nil
  ) async throws {
    guard !changes.isEmpty else {
      standardError.write(lines: "Nothing to change: the chip already has these values.\n")
      return
    }
    let scheme = device.profile.calibration
    let values = changes.map { PrintedValue($0.new, was: $0.old, in: scheme) }
    format.print(values, PrintedValue.changed) {
      "\($0.title(among: values))\($0.text($0.old)) → \($0.text)\n"
    }
    if let warning { note(warning) }
    if !consent.yes {
      guard standardInput.isTerminal else {
        throw Failure(
          .usage, "Nothing was written: no terminal to prompt on.", try: "Confirm with --yes.")
      }
      let count = counted(changes.count, "value")
      let question = "Write \(count) to \(printable(device.endpoint.description))?"
      guard try await Prompt.confirm(question) else { throw CancellationError() }
    }
    try Task.checkCancellation()
    try await write()
    standardError.write(lines: "\(changes.count) written and read back.\n")
  }
}

/// The wanted values that differ from the values in the chip.
package struct CalibrationChange {
  package let device: UWBDevice
  /// The new values, and the bytes that the chip has now.
  package let changes: [(new: CalibrationEntry, old: [UInt8])]

  package init(_ device: UWBDevice, _ wanted: [CalibrationEntry]) async throws {
    self.device = device
    let present = try await device.calibration(wanted.map(\.name))
    changes = wanted.compactMap { entry in
      let old = present.first { $0.name == entry.name }?.bytes ?? []
      return old == entry.bytes ? nil : (entry, old)
    }
  }

  /// Writes the new values and reads each one back. The values belong together: cancellation waits
  /// until all are written, and a failure restores the values that were already written.
  package func write() async throws {
    let (device, changes) = (device, changes)
    // A task of its own is not cancelled together with this one.
    try await Task {
      do { try await device.calibrate(changes.map(\.new)) } catch {
        let old = changes.filter { !$0.old.isEmpty }
          .map { CalibrationEntry(name: $0.new.name, bytes: $0.old) }
        for entry in old {
          do throws(CalibrationError) { try await device.calibrate([entry]) } catch {
            // A lost device ends the restoration. A refused value has not changed, so that the
            // others follow.
            if case .device = error { break }
          }
        }
        throw error
      }
    }.value
  }
}
