// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Synchronization
import UWBLab

/// The terminal for the calibration of boards.
final class TerminalConsole: CalibrationConsole {
  private struct Progress {
    var line = ProgressLine()
    /// The drawn length of the bar, in half characters.
    var step = -1
  }
  private let progress = Mutex(Progress())

  func ask(_ question: String) async throws -> String? { try await Prompt.ask(question) }

  func show(_ text: String) { standardError.write(lines: text) }

  func showProgress(_ label: String, _ count: Int, of total: Int) {
    let step = count * 50 / max(1, total)
    progress.withLock { progress in
      guard progress.step != step else { return }
      progress.step = step
      let filled = min(25, step / 2)
      let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 25 - filled)
      progress.line.show("  \(label) [\(bar)] \(count) of \(total)")
    }
  }

  func clearProgress() {
    progress.withLock { progress in
      progress.line.finish()
      progress = Progress()
    }
  }
}
