// SPDX-License-Identifier: Apache-2.0

import Estimators
import Foundation
import Ranging
import Testing
import UWB
import UWBTestSupport

@testable import UWBLab

@Suite(.computes) struct CalibrationTests {
  @Test func numbersAsPeopleTypeThem() {
    let cases: [(String, Double?)] = [
      ("2", 2), ("2,5", 2.5), ("2.5 m", 2.5), ("250cm", 2.5), ("-3", -3), ("m", nil), ("two", nil),
      ("0x10", nil), ("nan", nil), ("1e400", nil), ("", nil),
    ]
    for (text, value) in cases { #expect(quantityValue(text, "m") == value, "\(text)") }
    #expect(quantityValue("45°", "°") == 45 && quantityValue("2cm", "°") == nil)
  }

  /// Returns the answers in order, then the end of input.
  private actor Script: CalibrationConsole {
    private var answers: [String]
    private(set) var shown = ""

    init(_ answers: [String]) { self.answers = answers }

    func ask(_ question: String) -> String? { answers.isEmpty ? nil : answers.removeFirst() }
    nonisolated func show(_ text: String) {}
    nonisolated func showProgress(_ label: String, _ count: Int, of total: Int) {}
    nonisolated func clearProgress() {}
  }

  private func run(
    _ answers: [String], isInteractive: Bool = true, suggestions: [Double?]
  ) async throws -> [Double] {
    let guide = Guide<Double>(
      console: Script(answers), isInteractive: isInteractive, quantity: "distance", unit: "m",
      limits: 1...10)
    return try await guide.run(
      suggestions.map { .init(name: "A – B", value: $0) }, measure: { $1 + 0.5 },
      summary: { "\($0) \($1)" }
    ).map(\.measured)
  }

  @Test func placementsAreRepeatedSkippedAndKept() async throws {
    // The answers reject one placement, repeat the measurement of the next one, skip one before its
    // measurement, and skip one after its measurement.
    let kept = try await run(
      ["far", "11", "2", "what", "r", "3", "", "s", "", "s"], suggestions: [nil, 4, 5])
    #expect(kept == [3.5])
  }

  @Test func quittingIsACancellation() async {
    for answers in [["q"], ["2", "Q"]] {
      await #expect(throws: CancellationError.self) { try await run(answers, suggestions: [nil]) }
    }
  }

  @Test func withoutPromptsEveryNumberIsNeeded() async throws {
    #expect(try await run([], isInteractive: false, suggestions: [2, 3]) == [2.5, 3.5])
    let incomplete = await #expect(throws: LabError.self) {
      try await run([], isInteractive: false, suggestions: [2, nil])
    }
    #expect(incomplete?.code == .usage)
    // Nothing is measured before all numbers are known.
    let guide = Guide<Double>(
      console: Script([]), isInteractive: false, quantity: "distance", unit: "m", limits: 1...10)
    var measured = 0
    await #expect(throws: LabError.self) {
      _ = try await guide.run(
        [.init(name: "A – B", value: 2), .init(name: "A – C", value: nil)],
        measure: { _, value in
          measured += 1
          return value
        }, summary: { _, _ in "" })
    }
    #expect(measured == 0)
    let silent = await #expect(throws: LabError.self) { try await run([], suggestions: [2]) }
    #expect(silent?.code == .noAnswer)
  }

  /// A line of antennas that distinguishes left from right gets a table of the front. Another line
  /// distinguishes no sides.
  @Test(arguments: zip([90.0, 0], ["Take out the rows from behind", "Turn the antennas"]))
  func aLineOfAntennasIsNoRing(axis: Double, advice: String) throws {
    let samples = (0..<221).map { step in
      let azimuth = Double(step - 110) * .pi / 180
      return ArraySample(azimuth: azimuth, phases: [2.6 * cos(azimuth - axis * .pi / 180)])
    }
    let found = ArrayCalibration(names: ["pdoa"], fit: try ArrayFit(samples), samples: samples)
    let problem = try #require(found.problem)
    #expect(problem.recoverySuggestion?.hasPrefix(advice) == true, "\(problem)")
  }

  @Test func reflectionsElsewhereAreStated() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      #"{"pairs": [{"column": "a", "spacing_wavelengths": 0.4, "model_rad": 0.05}]}"#, to: "a.json")
    let pair = try #require(try RangingCalibration(file: file).antennaPairs().first)
    let place = 4 * Double.pi / 180
    #expect(abs(pair.modelDeviation - (0.05 * 0.05 + place * place).squareRoot()) < 1e-9)
    let settings = EstimationSettings(try RangingCalibration(file: file))
    #expect(settings.modelDeviation == pair.modelDeviation)
  }
}
