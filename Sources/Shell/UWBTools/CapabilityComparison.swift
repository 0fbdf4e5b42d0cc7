// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
package import UCI
package import UCIReference

/// Compares the capabilities of a chip with a session or with another chip.
package enum CapabilityComparison {
  /// Returns the parameters of a session that a chip does not support.
  ///
  /// - Parameter isSwapped: Whether the chip is the first side.
  package static func differences(
    _ end: SessionPeerConfiguration, _ capabilities: [TLV], _ dialect: Dialect, isSwapped: Bool
  ) -> [SessionDifference] {
    var parameters = end.parameters
    parameters.dialect = dialect
    // `profile check` reports the problems that do not depend on the chip.
    let anyway = Set(ConfigurationCheck(parameters).problems())
    return ConfigurationCheck(parameters, capabilities: Capabilities(capabilities)).problems()
      .filter { !anyway.contains($0) }
      .map { problem in
        let id = problem.parameters.first
        let wanted = id.flatMap { id in
          parameters[id].map { id.isSecret ? "(hidden)" : id.form().text($0) }
        }
        return SessionDifference(
          problem.severity > .warning
            ? .preventsRanging : problem.severity == .warning ? .notKnown : .doesNotMatter,
          id?.name ?? "",
          isSwapped ? nil : wanted, isSwapped ? wanted : nil, problem.description)
      }
  }

  /// Returns the capabilities in which two chips differ, in the order of the effects on sessions.
  package static func differences(
    _ first: ([TLV], Dialect), _ second: ([TLV], Dialect)
  ) -> [SessionDifference] {
    let lists = [first, second].map { CapabilityList($0.0, dialect: $0.1).rows }
    let names =
      lists[0].map(\.name)
      + lists[1].map(\.name).filter { name in
        !lists[0].contains { $0.name == name }
      }
    let found = names.compactMap { name -> SessionDifference? in
      let rows = lists.map { list in list.first { $0.name == name } }
      guard rows[0]?.bytes != rows[1]?.bytes else { return nil }
      let masks = rows.map { row in row.map { $0.bytes } }
      let effect: SessionDifference.Effect
      let why: String
      if let needed = common[name], let a = masks[0], let b = masks[1] {
        let isShared = zip(a, b).contains { $0 & $1 != 0 }
        effect = isShared ? .doesNotMatter : .preventsRanging
        why =
          isShared
          ? "Sessions must use what both support." : "The chips have no common \(needed)."
      } else if rows.contains(where: { $0 == nil }) {
        (effect, why) = (.notKnown, "One chip does not report it.")
      } else {
        (effect, why) = (.doesNotMatter, "Chips may differ in this.")
      }
      return SessionDifference(effect, name, rows[0]?.words, rows[1]?.words, why)
    }
    return SessionDifference.Effect.allCases.flatMap { effect in
      found.filter { $0.effect == effect }
    }
  }

  /// The capabilities whose value is a mask, from which both ends of a session use the same bit.
  private static let common = [
    "CHANNELS": "channel", "STS_CONFIG": "STS type", "RFRAME_CONFIG": "frame format",
    "RANGING_METHOD": "ranging method", "SCHEDULE_MODE": "schedule mode",
    "MULTI_NODE_MODE": "number of peers",
  ]
}
