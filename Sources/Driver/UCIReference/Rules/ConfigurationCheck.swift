// SPDX-License-Identifier: Apache-2.0

public import UCI

/// A problem in the parameters of a session: an error, or an unintended effect.
public struct ConfigurationProblem: Hashable, Sendable {
  /// The consequence of a problem.
  public enum Severity: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// No consequence, but information worth having.
    case advice
    /// The chip does not list this among its capabilities, or reports a version without it. Chips'
    /// own reports may be wrong: only the chip itself decides.
    case warning
    /// The parameter cannot be encoded, or no chip accepts it: the chip refuses it, and usually the
    /// whole command with it.
    case refusedByChip
    /// The chip may accept it, but no distance will be measured.
    case preventsRanging

    /// Orders by severity.
    public static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }
  }

  /// The consequence of the problem.
  public let severity: Severity
  /// The problem in one sentence.
  public let sentence: String
  /// The parameters concerned, the one to change first.
  public let parameters: [AppConfigID]
  /// The next step in one sentence; nil where `sentence` includes it.
  public let recoverySuggestion: String?

  package init(
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
  /// The sentence and the next step.
  public var description: String { sentence + (recoverySuggestion.map { " " + $0 } ?? "") }
}

extension [ConfigurationProblem] {
  /// The problems because of which the parameters should not be sent.
  public var errors: [ConfigurationProblem] { filter { $0.severity > .warning } }

  /// The problems that only the chip can decide.
  public var warnings: [ConfigurationProblem] { filter { $0.severity == .warning } }
}

/// Checks the parameters of a session before they are sent: against the table of parameters,
/// against the rules of the protocol, and against the chip's capabilities.
///
/// Sources of the rules: FiRa UCI as published in AOSP's FiraParams and FiraEncoder and in pica;
/// the answers of chips of Qorvo and NXP in published captures.
package struct ConfigurationCheck: Sendable {
  package var parameters: SessionParameters
  /// The capabilities of the chip; nil where they have not been read.
  package var capabilities: Capabilities?
  /// Whether the parameters are all parameters of the session, rather than a change of some.
  package var isComplete: Bool
  private var found: [ConfigurationProblem] = []

  /// Creates a check of the parameters of one end.
  ///
  /// - Parameter isComplete: false for a change of some parameters of a session; missing parameters
  ///   are then ignored.
  package init(
    _ parameters: SessionParameters, capabilities: Capabilities? = nil, isComplete: Bool = true
  ) {
    self.parameters = parameters
    self.capabilities = capabilities
    self.isComplete = isComplete
  }

  /// Returns all problems, the most severe first.
  package func problems() -> [ConfigurationProblem] {
    let rules = parameters.type.isRanging && isComplete ? Self.all : Self.general
    var check = self
    for rule in rules { rule(&check) }
    var seen: Set<ConfigurationProblem> = []
    let unique = check.found.filter { seen.insert($0).inserted }
    // Problems of equal severity are in the order of the rules.
    return ConfigurationProblem.Severity.allCases.reversed().flatMap { severity in
      unique.filter { $0.severity == severity }
    }
  }

  mutating func add(
    _ severity: ConfigurationProblem.Severity, _ sentence: String, _ parameters: [AppConfigID],
    try recoverySuggestion: String? = nil
  ) { found.append(.init(severity, sentence, parameters, try: recoverySuggestion)) }

  typealias Rule = @Sendable (inout ConfigurationCheck) -> Void

  // Rules for single values, which hold for every kind of session and for changes.
  static let general: [Rule] = [
    { $0.lengthsAndRanges() }, { $0.versions() }, { $0.order() }, { $0.initiationTime() },
    { $0.capabilityRows() },
  ]
  // Rules for sessions as a whole.
  static let all: [Rule] =
    general + [
      { $0.mandatory() }, { $0.startSet() }, { $0.roles() }, { $0.schedule() }, { $0.slots() },
      { $0.blocks() }, { $0.controlees() }, { $0.addresses() }, { $0.physical() }, { $0.frames() },
      { $0.stsKeys() }, { $0.stsUnused() }, { $0.reports() },
    ]

  func number(_ id: AppConfigID) -> UInt64? { parameters.number(id) }
  func isSet(_ id: AppConfigID) -> Bool { parameters.isSet(id) }
  /// Returns the number that the host sets; nil where only a default is known.
  func given(_ id: AppConfigID) -> UInt64? { isSet(id) ? number(id) : nil }

  /// A time less than ten seconds after boot was probably intended as a time from now.
  func name(_ id: AppConfigID) -> String { id.name(in: parameters.dialect) }

  /// Returns the value as text; never for a secret.
  func text(_ id: AppConfigID) -> String {
    guard !id.isSecret else { return "(hidden)" }
    guard let value = parameters[id] else {
      return number(id).map { "\($0) (default)" } ?? "not set"
    }
    return parameters.row(id)?.words(for: value) ?? ParameterForm.unknown("").text(value)
  }
}

extension SessionType {
  /// Whether this is FiRa ranging, with or without data: the subject of the rules in this folder.
  package var isRanging: Bool { rawValue <= 0x01 || (0x03...0x05).contains(rawValue) }
}
