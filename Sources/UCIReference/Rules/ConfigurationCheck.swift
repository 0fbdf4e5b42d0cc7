// SPDX-License-Identifier: Apache-2.0

package import UCI

/// Looks at the parameters of a session before they are sent: against the table of parameters,
/// against the rules of the protocol, and against what the chip says of itself.
///
/// Sources of the rules: FiRa UCI as published in AOSP's FiraParams and FiraEncoder and in pica;
/// what chips of Qorvo and NXP accepted and refused in published captures.
package struct ConfigurationCheck: Sendable {
  /// What is checked.
  package var parameters: SessionParameters
  /// What the chip can do; nil where it has not been asked.
  package var capabilities: Capabilities?
  /// All parameters of the session, rather than a change of some.
  package var isComplete: Bool

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
    let found = rules.flatMap { $0(self) }
    var seen: Set<ConfigurationProblem> = []
    let unique = found.filter { seen.insert($0).inserted }
    // In the order of the rules among equals.
    return ConfigurationProblem.Severity.allCases.reversed().flatMap { severity in
      unique.filter { $0.severity == severity }
    }
  }

  typealias Rule = @Sendable (ConfigurationCheck) -> [ConfigurationProblem]

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
}

extension SessionType {
  /// FiRa ranging, with or without data: what the rules of this folder are about.
  package var isRanging: Bool { rawValue <= 0x01 || (0x03...0x05).contains(rawValue) }
}

extension ConfigurationCheck {
  func number(_ id: AppConfigID) -> UInt64? { parameters.number(id) }
  func isSet(_ id: AppConfigID) -> Bool { parameters.isSet(id) }

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
