// SPDX-License-Identifier: Apache-2.0
import RangingScenes
import Testing
import UWBTestSupport

@testable import Estimators

/// The parts of a calibration that are held out of a fit, and the errors of held-out phases.
@Suite(.computes) struct HeldOutDirectionTests {
  @Test func `Nearly equal directions are in one part`() {
    let directions = (0..<90).flatMap { step in
      [-0.3, 0, 0.3].map { (4 * Double(step) + $0) * degree }
    }
    let parts = DirectionParts.parts(of: directions)
    for start in stride(from: 0, to: parts.count, by: 3) {
      #expect(Set(parts[start..<(start + 3)]).count == 1)
    }
    for part in 0..<DirectionParts.count {
      #expect(parts.count { $0 == part } == parts.count / DirectionParts.count)
    }
  }

  @Test func `A turn more is the same direction`() {
    let directions = (0..<60).map { Double($0) * 0.1 }
    let turned = directions.map { $0 + 2 * .pi }
    #expect(DirectionParts.parts(of: directions) == DirectionParts.parts(of: turned))
  }

  @Test(arguments: [0, 1, 7, 100, 2400])
  func `One index of each stretch is chosen`(_ count: Int) {
    let chosen = stretches(of: count, most: 100)
    #expect(chosen.count == min(count, 100))
    #expect(chosen.allSatisfy { 0..<count ~= $0 })
    #expect(zip(chosen, chosen.dropFirst()).allSatisfy { $0 < $1 })
    #expect(chosen == stretches(of: count, most: 100))
  }

  @Test func `Periodic data are not aliased`() {
    let phases = Set(stretches(of: 2400, most: 100).map { $0 % 24 })
    #expect(phases.count > 12)
  }

  /// The noise differs between neighbours, the error of the model does not.
  @Test(arguments: [0.02, 0.1, 0.3])
  func `Neighbours separate the noise from the error of the model`(_ model: Double) {
    var noise = Noise(seed: 71)
    let residuals = (0..<720).flatMap { step -> [(direction: Double, residual: Double)] in
      let direction = Double(step) * 0.5 * degree
      let repeated = model * 2.0.squareRoot() * sine(3 * direction)
      return (0..<3).map { _ in (direction, repeated + 0.05 * noise.normal()) }
    }
    let errors = PhaseErrors(residuals)
    #expect(0.04...0.06 ~= errors.noise, "\(errors.noise)")
    #expect(1.1 * model - 0.005...1.6 * model + 0.01 ~= errors.model, "\(errors.model)")
  }

  /// Two turns with other reflections: neighbours in direction differ by more than the noise.
  @Test func `Rows that follow each other have the noise`() throws {
    var noise = Noise(seed: 73)
    let residuals = (0..<720).map { step -> PhaseErrors.Residual in
      let direction = Double(step % 360) * degree
      return (direction, 0.2 * sine(direction + Double(step / 360)) + 0.05 * noise.normal())
    }
    let known = try #require(PhaseErrors.noise(Array(zip(residuals, residuals.dropFirst()))))
    #expect(0.045...0.055 ~= known, "\(known)")
    #expect(PhaseErrors(residuals).noise > 0.06)
    #expect(PhaseErrors(residuals, noise: known).noise == known)
    #expect(PhaseErrors.noise([(residuals[0], residuals[1])]) == nil)
  }

  @Test func `Without neighbours noise and error of the model are equal`() {
    var noise = Noise(seed: 72)
    let errors = PhaseErrors((0..<25).map { (Double($0) * 0.2, 0.1 * noise.normal()) })
    #expect(abs(errors.noise - errors.model) < 1e-9 && errors.noise > 0)
  }
}
