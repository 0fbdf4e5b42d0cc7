// SPDX-License-Identifier: Apache-2.0

import CUWBScenarios
import Testing

/// A row of the table in C.
struct Scenario: CustomTestStringConvertible, Sendable {
  let number: UInt32

  var testDescription: String { String(cString: cuwb_scenario_name(number)) }

  static let all = (0..<cuwb_scenario_count()).map(Scenario.init)
}

@Suite("Links, against models of chips and drivers", .serialized, .timeLimit(.minutes(10)))
struct ScenarioTests {
  @Test("The link keeps to the interface", .timeLimit(.minutes(10)), arguments: Scenario.all)
  func holds(_ scenario: Scenario) {
    let failure = cuwb_scenario_run(scenario.number).map { String(cString: $0) }
    #expect(failure == nil)
  }
}
