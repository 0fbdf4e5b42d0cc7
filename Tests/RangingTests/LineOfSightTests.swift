// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing

@Suite struct LineOfSightTests {
  @Test func `Diagnostics inflate the deviation`() throws {
    let model = LineOfSightModel()
    #expect(model.probability(ReceptionDiagnostics()) == nil)
    func probability(_ difference: Double) throws -> Double {
      var diagnostics = ReceptionDiagnostics()
      diagnostics.receivedPower = -80
      diagnostics.firstPathPower = -80 - difference
      return try #require(model.probability(diagnostics))
    }
    #expect(try probability(2) < 0.01)
    #expect(try probability(6) < 0.15)
    #expect(try probability(10) > 0.85)
    #expect(try probability(1e9) <= 1)
    #expect(model.inflated(0.1, probability: nil) == 0.1)
    #expect(model.inflated(0.1, probability: 0) == 0.1)
    #expect(abs(model.inflated(0.1, probability: 1) - 0.4) < 1e-12)
  }
}
