// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Synchronization
import UWBLab

/// The terminal for the calibration of boards.
final class TerminalConsole: CalibrationConsole {
  private let shown = Atomic(-1)

  func ask(_ question: String) async throws -> String? { try await Prompt.ask(question) }

  func show(_ text: String) { standardError.write(text) }

  func showProgress(_ label: String, _ count: Int, of total: Int) {
    let step = count * 50 / max(1, total)
    guard standardError.canRedraw, shown.exchange(step, ordering: .relaxed) != step else { return }
    let filled = min(25, step / 2)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 25 - filled)
    standardError.write("\r  \(label) [\(bar)] \(count) of \(total)")
  }

  func clearProgress() {
    shown.store(-1, ordering: .relaxed)
    if standardError.canRedraw { standardError.write("\r\u{1B}[K") }
  }
}
