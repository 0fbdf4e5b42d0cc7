// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UCI
import UCIReference

struct Explain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Explain a status, a reason or another code, and what to try.",
    discussion: """
      For example:
        uwbctl explain 0x21
        uwbctl explain RANGING_RX_PHY_STS_FAILED
      Without a code, lists all known codes. Some numbers have a different meaning for each vendor; all \
      of them are shown.
      """)

  @Argument(help: "A number (0x21, 33), a name, or part of a name.") var codes: [String] = []
  @Option(help: "Output format: text or json.") var format = OutputFormat.text

  func run() async throws {
    guard !codes.isEmpty else {
      let all = CodeFamily.allCases.flatMap { family in family.explanations.map { (family, $0) } }
      standardOutput.write(
        all.map { format == .json ? json($0, $1) : brief($0, $1) }.joined(separator: "\n") + "\n")
      return
    }
    for code in codes {
      let found = explanations(of: code)
      guard !found.isEmpty else {
        let names = CodeFamily.allCases.flatMap { $0.explanations.map(\.name) }
        let nearest = nearestNames(to: code, in: names)
        throw ValidationError(
          "There is no code '\(code)'."
            + (nearest.isEmpty ? "" : " Nearest: \(nearest.joined(separator: ", "))."))
      }
      standardOutput.write(
        found.map {
          format == .json ? json($0.family, $0.explanation) + "\n" : text($0.family, $0.explanation)
        }.joined(separator: format == .json ? "" : "\n"))
    }
  }

  private func title(_ family: CodeFamily, _ explanation: CodeExplanation) -> String {
    let vendors = explanation.vendors.map(\.title).joined(separator: ", ")
    return "\(family.rawValue) 0x\(hexDigits(explanation.code).uppercased()) \(explanation.name)"
      + (vendors.isEmpty ? "" : " (\(vendors))")
  }

  private func brief(_ family: CodeFamily, _ explanation: CodeExplanation) -> String {
    "\(title(family, explanation)): \(explanation.meaning)"
  }

  private func text(_ family: CodeFamily, _ explanation: CodeExplanation) -> String {
    "\(title(family, explanation))\n  \(explanation.meaning)\n" + explanation.listed(indent: "  ")
  }

  private func json(_ family: CodeFamily, _ explanation: CodeExplanation) -> String {
    var line = JSONLine()
    line.add("family", family.rawValue)
    line.add("code", explanation.code)
    line.add("name", explanation.name)
    line.add("meaning", explanation.meaning)
    line.add("causes", explanation.causes)
    line.add("to_try", explanation.recoverySuggestions)
    line.add("vendors", explanation.vendors.map(\.rawValue))
    return line.text
  }
}

extension CodeExplanation {
  /// Likely causes and what to try, a line each.
  func listed(indent: String) -> String {
    func list(_ title: String, _ texts: [String]) -> String {
      texts.isEmpty ? "" : "\(indent)\(title)\n" + texts.map { "\(indent)  - \($0)\n" }.joined()
    }
    return list("likely causes:", causes) + list("try:", recoverySuggestions)
  }
}
