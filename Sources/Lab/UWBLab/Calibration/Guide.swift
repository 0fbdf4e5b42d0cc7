// SPDX-License-Identifier: Apache-2.0

import Formats

/// The prompts for placing the boards, one placement after another.
struct Guide<Measured: Sendable> {
  struct Stop {
    /// The two boards to place: `A – B`.
    var name: String
    /// The suggested value in `unit`.
    var value: Double?
  }

  let console: any CalibrationConsole
  /// Whether the user is prompted. Otherwise every value must be given, and every placement is
  /// kept.
  let isInteractive: Bool
  /// The name of the quantity: `distance from antenna to antenna`.
  let quantity: String
  /// The unit, m or °.
  let unit: String
  let limits: ClosedRange<Double>

  /// Measures each placement until it is kept or skipped.
  ///
  /// - Parameters:
  ///   - measure: measures the placement of the given index at the given value.
  ///   - summary: returns a line about the measurements.
  /// - Throws: `CancellationError` if the user quits, `LabError` without an answer, and the errors
  ///   of `measure`.
  func run(
    _ stops: [Stop], measure: (Int, Double) async throws -> Measured,
    summary: (Measured, Double) -> String
  ) async throws -> [(stop: Int, value: Double, measured: Measured)] {
    if !isInteractive, let index = stops.firstIndex(where: { $0.value == nil }) {
      throw LabError(
        .usage,
        "(\(index + 1) of \(stops.count)) \(stops[index].name): without prompts, every \(quantity) "
          + "must be given.")
    }
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

  /// Prompts for the value. Returns nil to skip the placement.
  private func askValue(_ name: String, _ suggestion: Double?) async throws -> Double? {
    guard isInteractive else { return suggestion }
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
