// SPDX-License-Identifier: Apache-2.0

public import UCI

/// Something in the parameters of a session that will not work, or not as meant.
public struct ConfigurationProblem: Hashable, Sendable {
  /// What it leads to.
  public enum Severity: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// Works, but is worth knowing.
    case advice
    /// The chip refuses the parameter, and usually the whole command with it.
    case refusedByChip
    /// The chip may take it, but no distance will be measured.
    case preventsRanging

    /// Orders by severity.
    public static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }
  }

  /// What it leads to.
  public let severity: Severity
  /// What is wrong, in one sentence.
  public let sentence: String
  /// Which parameters it is about, the one to change first.
  public let parameters: [AppConfigID]
  /// What to do, in one sentence; nil where `sentence` says it.
  public let recoverySuggestion: String?

  /// Creates a problem.
  ///
  /// - Parameter recoverySuggestion: one sentence; nil where the other sentence says it.
  public init(
    _ severity: Severity, _ sentence: String, _ parameters: [AppConfigID],
    try recoverySuggestion: String? = nil
  ) {
    self.severity = severity
    self.sentence = sentence
    self.parameters = parameters
    self.recoverySuggestion = recoverySuggestion
  }
}

extension ConfigurationProblem: CustomStringConvertible {
  /// The sentence, and what to do.
  public var description: String { sentence + (recoverySuggestion.map { " " + $0 } ?? "") }
}

extension [ConfigurationProblem] {
  /// Those for which the parameters should not be sent.
  public var errors: [ConfigurationProblem] { filter { $0.severity > .advice } }

  mutating func add(
    _ severity: ConfigurationProblem.Severity, _ sentence: String, _ parameters: [AppConfigID],
    try recoverySuggestion: String? = nil
  ) { append(.init(severity, sentence, parameters, try: recoverySuggestion)) }
}
