// SPDX-License-Identifier: Apache-2.0

import Glibc
import Locking
import UWB

/// Prints the progress and results of `uwbctl firmware`.
final class FirmwareText: Sendable {
  private let isVerbose: Bool
  private let isTerminal = isatty(STDERR_FILENO) != 0
  private let last = Locked<(step: FirmwareStep, attempt: Int)?>(nil)

  init(isVerbose: Bool) { self.isVerbose = isVerbose }

  /// Updates a line on a terminal; otherwise prints a line for each step, if verbose.
  func show(_ progress: FirmwareProgress) {
    let isNew = last.withLock { last in
      defer { last = (progress.step, progress.attempt) }
      return last?.step != progress.step || last?.attempt != progress.attempt
    }
    if isTerminal {
      standardError.write("\r\u{1B}[K\(Self.line(progress))")
    } else if isVerbose, isNew {
      standardError.write(Self.line(progress) + "\n")
    }
  }

  /// Removes the updated line.
  func end() {
    if isTerminal { standardError.write("\r\u{1B}[K") }
  }

  static func line(_ progress: FirmwareProgress) -> String {
    let attempt = progress.attempt > 1 ? " (attempt \(progress.attempt))" : ""
    guard progress.step == .sending else { return "\(progress.step.rawValue)\(attempt)" }
    let percent = progress.total == 0 ? 0 : progress.sent * 100 / progress.total
    return "\(progress.step.rawValue): \(percent) % of \(progress.total) bytes\(attempt)"
  }

  static func describe(_ image: FirmwareImage) -> String {
    switch image.kind {
    case .hbci:
      "\(image.bytes.count) bytes: can be sent to an SR1xx, which checks the signature itself."
    case .hdll:
      "\(image.bytes.count) bytes, all frames complete with valid checksums"
        + (image.version.map { ": version \($0.major).\($0.minor)" } ?? "") + "."
    }
  }

  static func describe(_ report: Firmware.Report, _ kind: FirmwareImage.Kind) -> String {
    guard kind == .hbci else {
      return "Wrote \(report.bytes) bytes to the flash of the chip, which is in its loader now."
    }
    var text = "Loaded \(report.bytes) bytes, which the chip accepted"
    if let revision = report.revision {
      text += " (revision \(String(revision, radix: 16, uppercase: true))"
      text += report.isProduction.map { $0 ? ", production)" : ", development)" } ?? ")"
    }
    return text + "."
  }
}
