// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UCI

/// `uwbctl diff`: why two ends do not range with each other.
struct Diff: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compare two ends of a session and say what prevents ranging.",
    discussion: """
      Each side is a session profile, or a capture (pcapng, log or hexadecimal) in which the last \
      configuration of a session counts; parameters that are not set count with their defaults. \
      For example:
        uwbctl diff controller.json controlee.json
        uwbctl diff board-a.pcapng board-b.pcapng
      Ends with status 83 when the two cannot range. Keys are compared, never printed.
      """)

  @Argument(help: "One end.", completion: .file()) var first: String
  @Argument(help: "The other end.", completion: .file()) var second: String
  @Option(help: "How to print it.") var format = OutputFormat.text

  func run() async throws {
    try await reporting {
      let sides = try [first, second].map { try DiffSide(file: $0) }
      for side in sides where side.ends.isEmpty {
        standardError.write("uwbctl: \(printable(side.name)) configures no session.\n")
        throw ExitCode(ExitStatus.data.rawValue)
      }
      // The last session of each, unless both have one with the same id.
      let shared = sides[0].ends.last { end in
        end.sessionID != nil && sides[1].ends.contains { $0.sessionID == end.sessionID }
      }
      let a = shared ?? sides[0].ends[sides[0].ends.count - 1]
      let b =
        sides[1].ends.last { $0.sessionID != nil && $0.sessionID == a.sessionID }
        ?? sides[1].ends[sides[1].ends.count - 1]
      let differences = a.differences(from: b)
      standardOutput.write(differences.map(format == .json ? json : text).joined())
      let prevents = differences.contains { $0.effect == .preventsRanging }
      if format == .text {
        standardOutput.write(
          prevents
            ? "These two cannot range with each other.\n"
            : "Nothing here prevents ranging.\n")
      }
      if prevents { throw ExitCode(ExitStatus.cannotRange.rawValue) }
    }
  }

  private func text(_ difference: SessionDifference) -> String {
    let values = [difference.first, difference.second].map { printable($0 ?? "not set") }
    return "\(difference.effect.words): \(difference.name): \(values[0]) / \(values[1])\n"
      + "  \(difference.reason)\n"
  }

  private func json(_ difference: SessionDifference) -> String {
    var line = JSONLine()
    line.add("effect", difference.effect.words)
    line.add("name", difference.name)
    line.add("first", difference.first)
    line.add("second", difference.second)
    line.add("reason", difference.reason)
    return line.text + "\n"
  }
}

extension SessionDifference.Effect {
  /// For people and programs.
  var words: String {
    switch self {
    case .preventsRanging: "prevents ranging"
    case .notKnown: "not known"
    case .doesNotMatter: "does not matter"
    }
  }
}
