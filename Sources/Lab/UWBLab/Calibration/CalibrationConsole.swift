// SPDX-License-Identifier: Apache-2.0

/// The prompts and the output of a calibration, for the user who places the boards.
package protocol CalibrationConsole: Sendable {
  /// Prompts for a line; nil when no answer will come.
  ///
  /// - Throws: `CancellationError`.
  func ask(_ question: String) async throws -> String?
  /// Shows lines, line ends included.
  func show(_ text: String)
  /// Shows the number of finished measurements of a placement.
  func showProgress(_ label: String, _ count: Int, of total: Int)
  /// Removes the output of `showProgress`.
  func clearProgress()
}
