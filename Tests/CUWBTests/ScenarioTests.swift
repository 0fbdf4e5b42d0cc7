// SPDX-License-Identifier: Apache-2.0

import CUWBScenarios
import Testing

/// One row of the table in C.
struct Scenario: CustomTestStringConvertible, Sendable {
  let number: UInt32

  var testDescription: String { String(cString: cuwb_scenario_name(number)) }

  static let all = (0..<cuwb_scenario_count()).map(Scenario.init)
}

@Suite("Chips on SPI, against a far side from their protocols' tables", .serialized)
struct ScenarioTests {
  @Test("What is to hold", arguments: Scenario.all)
  func holds(_ scenario: Scenario) {
    let failure = cuwb_scenario_run(scenario.number).map { String(cString: $0) }
    #expect(failure == nil)
  }
}
