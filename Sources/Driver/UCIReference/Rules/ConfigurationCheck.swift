// SPDX-License-Identifier: Apache-2.0

public import UCI

/// Something in the parameters of a session that will not work, or not as meant.
public struct ConfigurationProblem: Hashable, Sendable {
  /// What it leads to.
  public enum Severity: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// Works, but is worth knowing.
    case advice
    /// The chip does not list this among its capabilities, or says a version that does not have it. What
    /// chips say of themselves is not always right: only the chip itself decides.
    case warning
    /// The parameter cannot be encoded, or no chip takes it: the chip refuses it, and usually the
    /// whole command with it.
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
  /// The sentence, and what to do.
  public var description: String { sentence + (recoverySuggestion.map { " " + $0 } ?? "") }
}

extension [ConfigurationProblem] {
  /// Those for which the parameters should not be sent.
  public var errors: [ConfigurationProblem] { filter { $0.severity > .warning } }

  /// Those that only the chip can decide on.
  public var warnings: [ConfigurationProblem] { filter { $0.severity == .warning } }
}

/// Looks at the parameters of a session before they are sent: against the table of parameters,
/// against the rules of the protocol, and against what the chip says of itself.
///
/// Sources of the rules: FiRa UCI as published in AOSP's FiraParams and FiraEncoder and in pica;
/// what chips of Qorvo and NXP accepted and refused in published captures.
package struct ConfigurationCheck: Sendable {
  package var parameters: SessionParameters
  /// What the chip can do; nil where it has not been asked.
  package var capabilities: Capabilities?
  /// All parameters of the session, rather than a change of some.
  package var isComplete: Bool
  private var found: [ConfigurationProblem] = []

  /// A check of the parameters of one end.
  ///
  /// - Parameter isComplete: false for a change of some parameters of a session that has others;
  ///   nothing is then said of what is missing.
  package init(
    _ parameters: SessionParameters, capabilities: Capabilities? = nil, isComplete: Bool = true
  ) {
    self.parameters = parameters
    self.capabilities = capabilities
    self.isComplete = isComplete
  }

  /// Returns everything that was found, the most severe first.
  package func problems() -> [ConfigurationProblem] {
    let rules = parameters.type.isRanging && isComplete ? Self.all : Self.general
    var check = self
    for rule in rules { rule(&check) }
    var seen: Set<ConfigurationProblem> = []
    let unique = check.found.filter { seen.insert($0).inserted }
    // In the order of the rules among equals.
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
  /// The number that the host gives; nil where only a default is known.
  func given(_ id: AppConfigID) -> UInt64? { isSet(id) ? number(id) : nil }

  /// `SLOT_DURATION`
  func name(_ id: AppConfigID) -> String { id.name(in: parameters.dialect) }

  /// The value as text; never that of a secret.
  func text(_ id: AppConfigID) -> String {
    guard !id.isSecret else { return "(hidden)" }
    guard let value = parameters[id] else {
      return number(id).map { "\($0) (default)" } ?? "not set"
    }
    return parameters.row(id)?.words(for: value) ?? ParameterForm.unknown("").text(value)
  }
}

extension SessionType {
  /// FiRa ranging, with or without data: what the rules of this folder are about.
  package var isRanging: Bool { rawValue <= 0x01 || (0x03...0x05).contains(rawValue) }
}
