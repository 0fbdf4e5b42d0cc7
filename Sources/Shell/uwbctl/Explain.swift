// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UCIReference
import UWBTools

struct Explain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Explain a status, another code, or a message.",
    discussion: """
      For example:
        uwbctl explain 0x21
        uwbctl explain RANGING_RX_PHY_STS_FAILED
      Without a code, lists all known codes. Some numbers have a different meaning for each vendor; all \
      of them are shown.
      """)

  @Argument(help: "A number (0x21, 33), a name, or part of a name.") var codes: [String] = []
  @Option(help: "Output format.") var format = OutputFormat.text

  typealias Explained = (family: CodeFamily, explanation: CodeExplanation)

  func run() async throws {
    if codes.isEmpty {
      let all = CodeFamily.allCases.flatMap { family in family.explanations.map { (family, $0) } }
      format.print(all, Self.json) { "\(Self.title($0)): \($0.explanation.meaning)\n" }
    }
    for code in codes {
      let found = explanations(of: code)
      guard !found.isEmpty else {
        let names = CodeFamily.allCases.flatMap { $0.explanations.map(\.name) }
        throw ValidationError(
          "There is no code '\(printable(code))'." + nearest(to: code, in: names))
      }
      var separator = ""
      format.print(found.map { ($0.family, $0.explanation) }, Self.json) { explained in
        defer { separator = "\n" }
        return "\(separator)\(Self.title(explained))\n  \(explained.explanation.meaning)\n"
          + explained.explanation.listed(indent: "  ")
      }
    }
  }

  private static func title(_ explained: Explained) -> String {
    let (family, explanation) = explained
    let vendors = explanation.vendors.map(\.title).joined(separator: ", ")
    return "\(family.rawValue) \(hexNumber(explanation.code)) \(explanation.name)"
      + (vendors.isEmpty ? "" : " (\(vendors))")
  }

  static let json = JSONTable<Explained>("explain", each: "code") {
    $0.key("family", "kind of code") { $0.family.rawValue }
    $0.key("code", "number") { $0.explanation.code }
    $0.key("name", "name") { $0.explanation.name }
    $0.key("meaning", "explanation") { $0.explanation.meaning }
    $0.key("causes", "likely causes") { $0.explanation.causes }
    $0.key("to_try", "the next step") { $0.explanation.recoverySuggestions }
    $0.key("vendors", "vendors that use it; empty for all") {
      $0.explanation.vendors.map(\.rawValue)
    }
  }
}

extension CodeExplanation {
  /// Returns likely causes and next steps, one per line.
  func listed(indent: String) -> String {
    func list(_ title: String, _ texts: [String]) -> String {
      texts.isEmpty ? "" : "\(indent)\(title)\n" + texts.map { "\(indent)  - \($0)\n" }.joined()
    }
    return list("likely causes:", causes) + list("try:", recoverySuggestions)
  }
}
