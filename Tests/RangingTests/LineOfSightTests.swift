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
  /// The rules do not determine the length of a detour, so the deviation includes it. Paths keep
  /// their deviation if their probability is at most the probability of any path.
  @Test func `A path that is probably blocked may have a detour of a metre`() {
    let model = LineOfSightModel()
    let free = model.effect(probability: nil, on: 0.0025)
    #expect(free.doubt == 0 && abs(free.total(slow: 0.0049) - 0.0074) < 1e-9)
    for probability in [0, 0.01, 0.1, 0.15] {
      #expect(model.effect(probability: probability, on: 0.0025).doubt == 0)
    }
    let blocked = model.effect(probability: 1, on: 0.0025)
    #expect(abs(blocked.doubt - 1.81) < 1e-9 && blocked.excess == 0)
    // The noise of the samples and their slow error grow as they do without a doubt in metres.
    #expect(abs(blocked.variance - 0.04) < 1e-9 && blocked.factor == 16)
    #expect(abs(blocked.total(slow: 0.0049) - (1.81 + 16 * 0.0049)) < 1e-9)
    let doubtful = model.effect(probability: 0.575, on: 0.0025)
    #expect(abs(doubtful.doubt - 0.905) < 1e-9)
  }
}
