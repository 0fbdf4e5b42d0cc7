// SPDX-License-Identifier: Apache-2.0

/// The prompts and the output of a calibration. The user places the boards.
package protocol CalibrationConsole: Sendable {
  /// Prompts for a line. Returns nil if no answer will come.
  ///
  /// - Throws: `CancellationError`.
  func ask(_ question: String) async throws -> String?
  /// Shows lines with their line breaks.
  func show(_ text: String)
  /// Shows the number of finished measurements of a placement.
  func showProgress(_ label: String, _ count: Int, of total: Int)
  /// Removes the output of `showProgress`.
  func clearProgress()
}
