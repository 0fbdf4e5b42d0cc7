// SPDX-License-Identifier: Apache-2.0

package import Ranging

/// What a calibration asks and tells the person who places the boards.
package protocol CalibrationConsole: Sendable {
  /// Asks for a line; nil when no answer will come.
  ///
  /// - Throws: `CancellationError`.
  func ask(_ question: String) async throws -> String?
  /// Shows lines, line ends included.
  func show(_ text: String)
  /// Shows how many of the measurements of a placement are done.
  func showProgress(_ label: String, _ count: Int, of total: Int)
  /// Removes what `showProgress` shows.
  func clearProgress()
}

/// The result of a calibration as text, as a calibration, and as charts.
package struct CalibrationReport {
  package let text: String
  package let calibration: RangingCalibration
  package let charts: [Chart]
}

/// How the boards are placed, one placement after another.
struct Guide<Measured: Sendable> {
  /// A placement.
  struct Stop {
    /// What is placed: `A – B`.
    var name: String
    /// The suggested number, in `unit`.
    var value: Double?
  }

  let console: any CalibrationConsole
  /// Whether a person is asked; otherwise every number must be known, and everything is kept.
  let isInteractive: Bool
  /// What the number is: `distance from antenna to antenna`.
  let quantity: String
  /// m or °.
  let unit: String
  let limits: ClosedRange<Double>

  /// Measures each placement until it is kept or skipped.
  ///
  /// - Parameters:
  ///   - measure: takes the index of the stop and its number.
  ///   - summary: a line about what was measured.
  /// - Throws: `CancellationError` on quitting, `LabError` when there is no answer, and what
  ///   `measure` throws.
  func run(
    _ stops: [Stop], measure: (Int, Double) async throws -> Measured,
    summary: (Measured, Double) -> String
  ) async throws -> [(stop: Int, value: Double, measured: Measured)] {
    var kept: [(stop: Int, value: Double, measured: Measured)] = []
    for (index, stop) in stops.enumerated() {
      var suggestion = stop.value
      placing: while true {
        let name = "(\(index + 1) of \(stops.count)) \(stop.name)"
        guard let value = try await askValue(name, suggestion) else { break }
        suggestion = value
        let measured = try await measure(index, value)
        console.show("  \(stop.name), \(fixed(value, 3)) \(unit): \(summary(measured, value))\n")
        switch try await askVerdict() {
        case "r": continue placing
        case "s": break placing
        default:
          kept.append((index, value, measured))
          break placing
        }
      }
    }
    return kept
  }

  private func askVerdict() async throws -> String {
    guard isInteractive else { return "" }
    while true {
      let answer = try await ask("  Enter keeps it, r measures again, s skips, q quits: ")
      if ["", "k", "r", "s"].contains(answer) { return answer }
      console.show("  Unknown answer: \(printable(answer))\n")
    }
  }

  /// nil: the placement is skipped.
  private func askValue(_ name: String, _ suggestion: Double?) async throws -> Double? {
    guard isInteractive else {
      guard let suggestion else {
        throw LabError(.usage, "\(name): without prompts, every \(quantity) must be given.")
      }
      return suggestion
    }
    let usual = suggestion.map { ", Enter for \(fixed($0, 3))" } ?? ""
    while true {
      let answer = try await ask("\(name): \(quantity) in \(unit)\(usual), s skips, q quits: ")
      if answer == "s" { return nil }
      if answer.isEmpty, let suggestion { return suggestion }
      if let value = quantityValue(answer, unit), limits.contains(value) { return value }
      console.show(
        "  Enter a number from \(fixed(limits.lowerBound, 2)) to \(fixed(limits.upperBound, 0)).\n")
    }
  }

  private func ask(_ question: String) async throws -> String {
    guard let answer = try await console.ask(question)?.lowercased() else {
      console.show("\n")
      throw LabError(
        .noAnswer, "No terminal to prompt on.",
        suggestion: "Give --yes and all numbers as options.")
    }
    if answer == "q" { throw CancellationError() }
    return answer
  }
}

/// A number as people type it, in metres or degrees: `2.5`, `2,5`, `2.5 m`, `250cm`.
package func quantityValue(_ text: String, _ unit: String) -> Double? {
  var rest = text[...]
  var factor = 1.0
  for (suffix, scale) in [("cm", 0.01), ("mm", 0.001)] where unit == "m" && rest.hasSuffix(suffix) {
    rest = rest.dropLast(2)
    factor = scale
  }
  if rest.hasSuffix(unit) { rest = rest.dropLast(unit.count) }
  let plain = rest.filter { $0 != " " }.map { $0 == "," ? "." : String($0) }.joined()
  guard plain.allSatisfy({ $0.isASCII && ($0.isNumber || ".-+e".contains($0)) }) else {
    return nil
  }
  return Double(plain).flatMap { $0.isFinite ? $0 * factor : nil }
}
