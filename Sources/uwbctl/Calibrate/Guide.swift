// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging

/// One placement after another: where, measured, looked at, kept or not.
struct Guide<Measured: Sendable> {
  /// A placement that is asked for.
  struct Stop {
    /// What is to be placed: `A – B`.
    var name: String
    /// The number that is expected, in `unit`.
    var value: Double?
  }

  /// nil: nobody is asked, every number is known and everything is kept.
  let prompt: Prompt?
  /// What the number is: `distance from antenna to antenna`.
  let what: String
  /// m or °.
  let unit: String
  let limits: ClosedRange<Double>

  private enum Answer { case value(Double), skip }

  /// - Parameters:
  ///   - measure: the number that was given, and how far it is, from 0 to 1.
  ///   - spread: one line about what was measured.
  /// - Throws: `CancellationError` when the person ends it.
  func run(
    _ stops: [Stop], measure: (Int, Double) async throws -> Measured,
    spread: (Measured, Double) -> String
  ) async throws -> [(stop: Int, value: Double, measured: Measured)] {
    var kept: [(stop: Int, value: Double, measured: Measured)] = []
    for (index, stop) in stops.enumerated() {
      var suggestion = stop.value
      placing: while true {
        let place = "(\(index + 1) of \(stops.count)) \(stop.name)"
        guard case .value(let value) = try await askValue(place, suggestion) else { break }
        suggestion = value
        let measured = try await measure(index, value)
        standardError.write(
          "  \(stop.name), \(fixed(value, 3)) \(unit): \(spread(measured, value))\n")
        switch try await ask("  Enter keeps it, r measures again, s skips, q quits: ") {
        case "", "k": kept.append((index, value, measured))
        case "r": continue placing
        default: break
        }
        break
      }
    }
    return kept
  }

  private func ask(_ question: String) async throws -> String {
    guard let prompt else { return "" }
    while true {
      guard let answer = try await prompt.ask(question)?.lowercased() else { throw nobody() }
      switch answer {
      case "", "k", "r", "s": return answer
      case "q": throw CancellationError()
      default: standardError.write("  \(printable(answer)) is none of these.\n")
      }
    }
  }

  private func askValue(_ place: String, _ suggestion: Double?) async throws -> Answer {
    guard let prompt else {
      guard let suggestion else {
        throw ValidationError("\(place): without questions every \(what) has to be given.")
      }
      return .value(suggestion)
    }
    while true {
      let usual = suggestion.map { ", Enter for \(fixed($0, 3))" } ?? ""
      let question = "\(place): \(what) in \(unit)\(usual), s skips, q quits: "
      guard let answer = try await prompt.ask(question)?.lowercased() else { throw nobody() }
      switch answer {
      case "q": throw CancellationError()
      case "s": return .skip
      case "":
        if let suggestion { return .value(suggestion) }
      default:
        if let value = Self.number(answer, unit), limits.contains(value) { return .value(value) }
      }
      standardError.write(
        "  A number from \(fixed(limits.lowerBound, 2)) to \(fixed(limits.upperBound, 0)) is needed.\n"
      )
    }
  }

  private func nobody() -> any Error {
    standardError.write(
      "\nuwbctl: There is nobody to answer.\n  try: --yes and all numbers as options.\n")
    return ExitCode(ExitStatus.usage.rawValue)
  }

  /// `2.5`, `2,5`, `2.5 m`, `250cm`.
  static func number(_ text: String, _ unit: String) -> Double? {
    var rest = text[...]
    var factor = 1.0
    for (suffix, scale) in [("cm", 0.01), ("mm", 0.001)] where unit == "m" && rest.hasSuffix(suffix)
    {
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
}

/// How far a measurement is, on one line of a terminal.
struct Progress {
  private let label: String
  private let total: Int
  private var shown = -1

  init(_ label: String, of total: Int) {
    self.label = label
    self.total = total
  }

  mutating func show(_ count: Int) {
    guard standardError.isTerminal, count * 50 / max(1, total) != shown else { return }
    shown = count * 50 / max(1, total)
    let filled = min(25, shown / 2)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 25 - filled)
    standardError.write("\r  \(label) [\(bar)] \(count) of \(total)")
  }

  func clear() {
    if standardError.isTerminal { standardError.write("\r\u{1B}[K") }
  }
}
