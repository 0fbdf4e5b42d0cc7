// SPDX-License-Identifier: Apache-2.0
import Foundation
import Ranging
import Testing

@Suite struct RangingCalibrationTests {
  private func pair(_ column: String) -> RangingCalibration.Pair {
    var pair = RangingCalibration.Pair(column: column)
    pair.table = (-8...8).map { .init(angleDegrees: Double(10 * $0), phase: Double($0) / 3) }
    (pair.offset, pair.phaseNoise) = (0.3, 0.01)
    return pair
  }

  @Test func `Encodes and decodes`() throws {
    var calibration = RangingCalibration()
    calibration.antennaDelays = [
      .init(BoardAntenna("A", channel: 5, antenna: 1), delay: 0.15, standardDeviation: 0.01)
    ]
    calibration.powerBias = PowerBias([.init(power: -80, bias: 0.02)])
    calibration.pairs = [pair("pdoa_rad")]
    let data = try JSONEncoder().encode(calibration)
    let read = try JSONDecoder().decode(RangingCalibration.self, from: data)
    #expect(read == calibration)
    #expect(read.delay(of: BoardAntenna("A", channel: 5, antenna: 1))?.metres == 0.15)
    #expect(read.delay(of: BoardAntenna("B")) == nil)
    #expect(read.powerBias.bias(at: -80) == 0.02)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains("\"delay_m\":0.15") && text.contains("\"format\":\"swift-uwb ranging"))
  }

  /// New calibrations replace earlier ones of the same antenna; the rest stays.
  @Test func `Merges another calibration`() throws {
    func antenna(_ board: String, _ metres: Double) -> RangingCalibration.Antenna {
      .init(BoardAntenna(board), delay: metres, standardDeviation: 0)
    }
    var old = RangingCalibration()
    old.antennaDelays = [antenna("A", 0.1), antenna("B", 0.2)]
    old.pairs = [pair("p"), pair("q")]
    old.delay = 0.3
    var new = RangingCalibration()
    new.antennaDelays = [antenna("B", 0.25), antenna("C", 0.4)]
    new.pairs = [pair("q")]
    new.peerDelays = ["1": 0.2]
    old.merge(new)
    #expect(old.antennaDelays?.map(\.delay) == [0.1, 0.25, 0.4])
    #expect(old.pairs?.map(\.column) == ["p", "q"])
    #expect(old.delay == 0.3 && old.peerDelays == ["1": 0.2])
  }

  /// One position does not show the scatter between positions. Many positions show it, but not the
  /// change from one day to another.
  @Test func `Corrected distances are as uncertain as the calibration`() throws {
    var raw = try TwoWayExchange(
      pollSent: 0, pollReceived: 2132, responseSent: 127_797_332, responseReceived: 127_799_464
    ).distance(offset: ClockOffset(0))
    (raw.distance, raw.standardDeviation, raw.biasDeviation) = (5, 0.301, 0.3)
    func corrected(_ positions: Int?, rms: Double = 0) -> TwoWayDistance {
      var calibration = RangingCalibration()
      calibration.residuals = .init(FitResiduals([rms, -rms]), positions: positions)
      return calibration.corrected(raw, by: 0.25)
    }
    let (one, many) = (corrected(1), corrected(400))
    #expect(one == corrected(nil) && one.distance == 4.75)
    #expect(0.08...0.085 ~= one.biasDeviation && 0.025...0.026 ~= many.biasDeviation)
    let noise = (0.301 * 0.301 - 0.09).squareRoot()
    for (found, position) in [(one, 0.078), (many, 0.0039)] {
      let whole = noise * noise + position * position + found.biasDeviation * found.biasDeviation
      #expect(abs(found.standardDeviation - whole.squareRoot()) < 1e-9)
    }
    // A corrected distance is not more certain than the distances of the calibration.
    let rough = corrected(400, rms: 0.08)
    #expect(0.083...0.085 ~= rough.standardDeviation)
  }

  /// The cases are a room with strong reflections, a hall without reflections, and files with an
  /// impossible scatter.
  @Test(arguments: [(0.2, 0.10308), (0.02, 0.02693), (0, 0.025), (-1, 0.025)])
  func `The scatter of positions replaces the usual one`(_ scatter: Double, _ constant: Double) {
    var calibration = RangingCalibration()
    calibration.residuals = .init(
      FitResiduals([0.01, -0.01]), positions: 4, positionDeviation: scatter)
    #expect(abs(calibration.biasDeviation - constant) < 1e-5)
    #expect(calibration.positionDeviation == max(0, scatter))
  }

  /// More positions reduce the error from their scatter. The change from one day to another and the
  /// deviation of the delay remain.
  @Test func `Positions average their scatter, not the day's change`() {
    let deviations = [1, 2, 8, 10_000].map {
      RangingCalibration.biasDeviation(positions: $0, each: 0.1)
    }
    #expect(deviations == deviations.sorted(by: >))
    #expect(abs(deviations[0] - 0.1031) < 1e-4 && abs(deviations[3] - 0.025) < 1e-4)
    // The number of positions in this file is impossible.
    #expect(RangingCalibration.biasDeviation(positions: 0, each: 0.1) == deviations[0])
    let delay = RangingCalibration().constantDeviation(delay: 0.3)
    #expect(abs(delay - (0.3 * 0.3 + 0.025 * 0.025 + 0.078 * 0.078).squareRoot()) < 1e-9)
  }

  /// A hand-written table with the required entries only.
  @Test func `Decodes a file written by hand`() throws {
    let text = #"{"antenna_delays": [{"board": "A", "delay_m": 0.1}]}"#
    let read = try JSONDecoder().decode(RangingCalibration.self, from: Data(text.utf8))
    #expect(read.delay(of: BoardAntenna("A"))?.metres == 0.1)
  }

  @Test(arguments: ChipFamily.allCases)
  func `Each end contributes the error of its family`(_ family: ChipFamily) {
    let own = family.uncalibratedDeviation
    #expect(abs(family.uncalibratedDeviation(to: family) - own) < 1e-12)
    // No family is better than a module of the vendor, or worse than the worst published pair.
    #expect(0.1...0.37 ~= own && own <= ChipFamily.unknown.uncalibratedDeviation)
    let other = family.uncalibratedDeviation(to: .unknown)
    #expect(min(own, 0.3) <= other && other <= max(own, 0.3))
  }
}
