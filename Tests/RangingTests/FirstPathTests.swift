// SPDX-License-Identifier: Apache-2.0
import Foundation
import Ranging
import Testing
import UWBTestSupport

private let degree = Double.pi / 180

@Suite(.computes) struct FirstPathTests {
  /// A path: its time in samples, its strength, and its phase.
  private typealias Path = (at: Double, amplitude: Double, phase: Double)

  /// Returns a response of 500 MHz, sampled at 998.4 MHz. Pulses are two samples wide at half their
  /// height. The real and the imaginary part of a sample each have a noise of 1.
  private func response(_ paths: [Path], seed: UInt64, noise scale: Double = 1) -> [ChannelTap] {
    var noise = Noise(seed: seed)
    return (0..<64).map { index in
      var (real, imaginary) = (scale * noise.normal(), scale * noise.normal())
      for path in paths {
        let time = (Double(index) - path.at) / 1.2
        let height = path.amplitude * exp(-time * time)
        real += height * cos(path.phase)
        imaginary += height * sin(path.phase)
      }
      return ChannelTap(real, imaginary)
    }
  }

  private func wrapped(_ phase: Double) -> Double {
    phase - 2 * .pi * (phase / (2 * .pi)).rounded()
  }

  /// Spans are not allowed in the macros of tests, so this function creates one.
  private func read(
    _ taps: [ChannelTap], at index: Double, carrierPhase: Double = 0, noise: Double? = nil
  ) -> FirstPath? {
    FirstPath(taps.span, at: index, carrierPhase: carrierPhase, noise: noise)
  }

  @Test func `Reads the phase of the first path`() throws {
    let taps = response([(30.3, 2000, 1.2)], seed: 1)
    let found = try #require(read(taps, at: 29.6, carrierPhase: 0.5))
    #expect(abs(found.phase - 0.7) < 0.005)
    #expect(found.phaseDeviation < 0.002 && found.signalToNoise > 50)
    #expect(-6...0 ~= found.firstToPeak)
  }

  /// A reflection arrives three samples later, and is twice as strong. The edge has the phase of
  /// the direct path, and the strongest sample has the phase of the reflection.
  @Test func `Reads the edge and not the peak`() throws {
    let taps = response([(30, 900, 0.4), (33, 1800, 2.6)], seed: 2)
    let edge = try #require(read(taps, at: 29.5))
    let peak = try #require(read(taps, at: 33))
    #expect(abs(edge.phase - 0.4) < 0.02)
    #expect(abs(wrapped(peak.phase - 2.6)) < 0.05 && abs(edge.firstToPeak) > 6)
    // Rotation by any angle rotates the phase, and scaling does not change it.
    for turn in stride(from: -3.0, through: 3, by: 0.5) {
      let turned = taps.map { tap in
        ChannelTap(
          7 * (tap.real * cos(turn) - tap.imaginary * sin(turn)),
          7 * (tap.real * sin(turn) + tap.imaginary * cos(turn)))
      }
      let found = try #require(read(turned, at: 29.5))
      #expect(abs(wrapped(found.phase - edge.phase - turn)) < 1e-9)
      #expect(abs(found.signalToNoise - edge.signalToNoise) < 1e-9)
    }
  }

  /// The stated noise equals the scatter of the phases of equal frames.
  @Test(arguments: [8.0, 30, 200])
  func `The stated deviation matches the error`(_ amplitude: Double) throws {
    var spread = Spread()
    var said = 0.0
    for seed in 0..<400 {
      let taps = response([(40, amplitude, 0.3)], seed: UInt64(seed))
      let found = try #require(read(taps, at: 39.5))
      spread.add(wrapped(found.phase - 0.3))
      said += found.phaseDeviation / 400
    }
    #expect(0.6...1.15 ~= spread.deviation / said, "\(spread.deviation) for \(said)")
    #expect(abs(spread.mean) < 0.2 * spread.deviation)
  }

  /// Two receivers are half a wavelength apart, and the signal comes from the side. The average of
  /// the frames is an average of phasors.
  @Test func `Computes the phase difference of two receivers`() throws {
    let difference = 2 * .pi * 0.5 * sin(70 * degree)
    var mean = PhasorMean()
    for seed in 0..<20 {
      let common = Double(seed) * 1.7
      let a = response([(30, 400, common + difference)], seed: UInt64(2 * seed))
      let b = response([(30.1, 300, common)], seed: UInt64(2 * seed + 1))
      let first = try #require(read(a, at: 29.4))
      let second = try #require(read(b, at: 29.5))
      let (phase, deviation) = first.difference(from: second)
      #expect(deviation > first.phaseDeviation && deviation < 0.02)
      mean.add(phase, weight: min(first.power, second.power))
    }
    #expect(abs(wrapped(try #require(mean.phase) - difference)) < 0.01)
  }

  @Test func `Refuses invalid input`() throws {
    let taps = response([(30, 400, 0)], seed: 3)
    for index in [-1.0, 63.5, .nan, .infinity] {
      #expect(read(taps, at: index) == nil)
    }
    #expect(read([ChannelTap](), at: 0) == nil)
    let zeros = [ChannelTap](repeating: ChannelTap(0, 0), count: 8)
    #expect(read(zeros, at: 3) == nil)
    var broken = taps
    broken[12] = ChannelTap(.nan, 1)
    _ = read(broken, at: 30)
    broken[30] = ChannelTap(.nan, 1)
    #expect(read(broken, at: 30) == nil)
    // A window that begins with the path has no samples with noise alone.
    let short = try #require(read(Array(taps[28..<40]), at: 1))
    #expect(short.phaseDeviation == .pi)
    let told = try #require(read(Array(taps[28..<40]), at: 1, noise: 1))
    #expect(told.phaseDeviation < 0.1)
  }
}
