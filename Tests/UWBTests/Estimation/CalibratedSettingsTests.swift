// SPDX-License-Identifier: Apache-2.0
import Foundation
import Ranging
import Testing
import UWBTestSupport
import UCI

@testable import UWB

/// The antennas of a calibration file, as estimates use them.
@Suite(.computes) struct CalibratedSettingsTests {
  private static func settings(
    _ json: String, board: String? = nil, peers: [MACAddress] = []
  ) throws -> EstimationSettings {
    let calibration = try JSONDecoder().decode(RangingCalibration.self, from: Data(json.utf8))
    return EstimationSettings(calibration, board: board, peers: peers)
  }

  /// Returns the phase of two ideal antennas half a wavelength apart. Angles have FiRa's signs.
  private static func ideal(_ angle: Double) -> Double { .pi * sin(angle) }

  private static func agree(_ table: PhaseTable?, _ phase: (Double) -> Double) -> Bool {
    guard let table else { return false }
    return [-0.9, -0.2, 0, 0.3, 1.1].allSatisfy {
      abs(remainder(table.phase(at: $0) - phase($0), 2 * .pi)) < 0.01
    }
  }

  // The device's y points to the left, its z upwards; FiRa counts to the right and upwards.
  @Test(
    arguments: [
      ("[0, 1, 0]", -1, nil), ("[0, -1, 0]", 1, nil), ("[0.9, 1, 0]", -1, nil),
      ("[0, -1, 1]", 1, nil), ("[0, 0, 1]", nil, 1), ("[0, 0, -1]", nil, -1),
      ("[0, 0.9, 1]", nil, 1), ("[1, 0, 0]", nil, nil), ("[1, 1, 0]", nil, nil),
      ("[0, 1]", nil, nil), ("null", -1, nil),
    ] as [(String, Double?, Double?)])
  func axes(_ axis: String, _ azimuth: Double?, _ elevation: Double?) throws {
    let settings = try Self.settings(
      #"{"pairs": [{"column": "a", "axis": \#(axis), "spacing_wavelengths": 0.5}]}"#)
    for (table, sign) in [(settings.azimuth, azimuth), (settings.elevation, elevation)] {
      #expect((table != nil) == (sign != nil))
      if let sign { #expect(Self.agree(table) { sign * Self.ideal($0) }) }
    }
  }

  @Test("Antennas by their places, spacings in metres, and tables; with an offset")
  func geometry() throws {
    for pair in [
      #""antennas": ["a", "b"]"#, #""axis": [0, -1, 0], "spacing_m": 0.02"#,
      #""axis": [0, -1, 0], "spacing_wavelengths": 0.5"#,
    ] {
      for offset in [0, 0.25] {
        let settings = try Self.settings(
          """
          {"wavelength_m": 0.04, "antennas": {"a": [0, -0.01, 0], "b": [0, 0.01, 0]},
           "pairs": [{"column": "x", "offset_rad": \(offset), \(pair)}]}
          """)
        #expect(Self.agree(settings.azimuth) { Self.ideal($0) + offset }, "\(pair)")
      }
    }
    let points = stride(from: -60, through: 60, by: 30).map {
      #"{"angle_deg": \#($0), "phase_deg": \#($0 * 2)}"#
    }
    let table = try Self.settings(
      """
      {"pairs": [{"column": "x", "axis": [0, -1, 0], "offset_rad": 0.5,
       "table": [\(points.joined(separator: ", "))]}]}
      """)
    let phase = try #require(table.azimuth?.phase(at: .pi / 6))
    #expect(abs(phase - (Double.pi / 3 + 0.5)) < 1e-9)
    // Incomplete descriptions: no wavelength, an antenna that does not exist, one without a
    // position.
    for pair in [
      #"{"antennas": {"a": [0, 0, 0], "b": [0, 1, 0]}, "pairs": [{"column": "x", "antennas": ["a", "b"]}]}"#,
      #"{"channel": 9, "antennas": {"a": [0, 0, 0]}, "pairs": [{"column": "x", "antennas": ["a", "b"]}]}"#,
      #"{"channel": 9, "antennas": {"a": [0, 0], "b": [0, 1, 0]}, "pairs": [{"column": "x", "antennas": ["a", "b"]}]}"#,
      #"{"channel": 9, "antennas": {"a": [0, 0, 0]}, "pairs": [{"column": "x", "antennas": ["a"]}]}"#,
      #"{"pairs": [{"column": "x", "spacing_m": 0.02}]}"#, #"{"pairs": [{"column": "x"}]}"#,
      #"{"pairs": [{"column": "x", "spacing_wavelengths": 0}]}"#,
    ] {
      #expect(try Self.settings(pair).azimuth == nil, "\(pair)")
    }
  }

  @Test("The first pair of each kind is taken, with its noise")
  func firstOfEach() throws {
    func pair(_ axis: String, _ noise: Double) -> String {
      #"{"column": "x", "axis": \#(axis), "spacing_wavelengths": 0.5, "noise_rad": \#(noise)}"#
    }
    let pairs = [pair("[0, 0, 1]", 0.4), pair("[0, -1, 0]", 0.1), pair("[0, 1, 0]", 0.2)]
    let settings = try Self.settings(
      #"{"noise_rad": 0.3, "pairs": [\#(pairs.joined(separator: ", "))]}"#)
    #expect(settings.phaseDeviation == 0.1)
    #expect(Self.agree(settings.azimuth, Self.ideal))
    #expect(Self.agree(settings.elevation, Self.ideal))
    let common = try Self.settings(
      #"{"noise_rad": 0.3, "elevation_deg": 90, "pairs": [{"column": "x", "spacing_wavelengths": 1}]}"#
    )
    #expect(common.phaseDeviation == 0.3 && common.assumedElevation == .pi / 2)
    let none = try Self.settings(#"{"pairs": [\#(pair("[0, 1, 0]", 0))]}"#)
    #expect(none.phaseDeviation == EstimationSettings().phaseDeviation)
  }

  @Test("An antenna's own delay goes before that of a peer, and this before the common one")
  func delays() throws {
    var calibration = RangingCalibration()
    calibration.delay = 0.5
    calibration.peerDelays = ["0001": 0.1, "0002": 0.2, "nobody": 9]
    calibration.antennaDelays = [("own", 0.01), ("0001", 0.03), ("0x0003", 0.05)].map {
      .init(BoardAntenna($0.0), delay: $0.1, standardDeviation: 0.001)
    }
    let peers = (1...4).map { MACAddress(UInt16($0)) }
    let settings = EstimationSettings(calibration, board: "own", peers: peers)
    #expect(settings.delay == 0.5)
    #expect(settings.delays.mapValues { ($0 * 100).rounded() } == [1: 4, 2: 20, 3: 6])
    // The delays of both ends take precedence over the sum for their pair.
    let sums = (1...3).map { #"{"boards": ["own", "000\#($0)"], "delay_m": 0.7}"# }
    let json = #"{"pair_delays": [\#(sums.joined(separator: ", "))]}"#
    calibration.pairDelays = try JSONDecoder().decode(
      RangingCalibration.self, from: Data(json.utf8)
    ).pairDelays
    #expect(
      EstimationSettings(calibration, board: "own", peers: peers).delays
        .mapValues { ($0 * 100).rounded() } == [1: 4, 2: 70, 3: 6])
    let stranger = EstimationSettings(calibration, board: "other", peers: peers)
    #expect(stranger.delays == [1: 0.1, 2: 0.2])
    // This board has no name, so the sums of the board that occurs in all of them apply.
    #expect(EstimationSettings(calibration, peers: peers).delays == [1: 0.1, 2: 0.2, 3: 0.7])
    #expect(EstimationSettings(calibration, channel: 5, peers: peers).delays == [1: 0.1, 2: 0.2])
    // Other peers have the mean, unless there is a general delay.
    calibration.delay = nil
    calibration.peerDelays = ["0001": 0.1, "0002": 0.2]
    #expect(EstimationSettings(calibration, board: "other").delay == (0.1 + 0.2) / 2)
  }

  @Test("Without a calibration, the family of the chip determines the constant error")
  func uncalibrated() throws {
    var settings = EstimationSettings()
    for (vendor, expected) in [(Dialect.Vendor.qorvo, 0.3), (.nxp, 0.255), (.android, 0.3)] {
      settings.chip = ChipFamily(vendor)
      #expect(abs(settings.constantDeviation(of: 1) - expected) < 1e-4)
      let stated = try #require(settings.uncalibratedDeviation(on: settings.chip, peers: [1]))
      #expect(abs(stated - expected) < 1e-4)
    }
    settings.delayDeviation = 0.05
    #expect(settings.constantDeviation(of: 1) == 0.05)
    #expect(settings.uncalibratedDeviation(on: .dw3000) == nil)
    // Levels and the delays of other boards correct nothing here.
    for json in [
      #"{"power_bias": [{"rx_power_dbm": -80, "bias_m": 0.1}]}"#,
      #"{"antenna_delays": [{"board": "A", "delay_m": 0.1, "sigma_m": 0.02}]}"#,
    ] {
      let settings = try Self.settings(json, board: "own", peers: [1])
      #expect(settings.constantDeviation(of: 1) == 0.3, "\(json)")
      #expect(settings.uncalibratedDeviation(on: .unknown, peers: [1]) == 0.3)
    }
  }

  @Test(
    "A calibration replaces the figure of the family by its own deviation",
    arguments: [
      (#"{"delay_m": 0.29, "residuals": $3}"#, 0.0515),
      (#"{"delay_m": 0.29}"#, 0.0819),
      (#"{"delays_m": {"0001": 0.29}, "residuals": $3}"#, 0.0515),
      (
        #"""
        {"pair_delays": [{"boards": ["own", "0001"], "delay_m": 0.29, "sigma_m": 0.02}],
         "residuals": $3}
        """#, 0.0552
      ),
      (
        #"""
        {"antenna_delays": [{"board": "own", "delay_m": 0.12, "sigma_m": 0.03},
                            {"board": "0x0001", "delay_m": 0.17, "sigma_m": 0.04}],
         "residuals": $3}
        """#, 0.0718
      ),
    ])
  func replaced(_ json: String, _ expected: Double) throws {
    let residuals =
      #"{"count": 9, "rmse_m": 0.03, "median_m": 0.02, "p95_m": 0.06, "positions": 3}"#
    let settings = try Self.settings(
      json.replacing("$3", with: residuals), board: "own", peers: [1])
    #expect(abs((settings.delays[1] ?? settings.delay) - 0.29) < 1e-9)
    #expect(abs(settings.constantDeviation(of: 1) - expected) < 1e-4)
    #expect(settings.uncalibratedDeviation(on: .dw3000, peers: [1]) == nil)
  }

  /// The scatter of the positions of a calibration is the error that changes slowly.
  @Test func slowErrorOfTheCalibration() throws {
    let residuals = #"{"count": 9, "rmse_m": 0.03, "median_m": 0.02, "p95_m": 0.06, "positions": 4"#
    func settings(_ more: String) throws -> EstimationSettings {
      try Self.settings(#"{"delay_m": 0.3, "residuals": \#(residuals)\#(more)}}"#)
    }
    let usual = EstimationSettings().filter.slowDeviation
    #expect(try settings("").filter.slowDeviation == usual)
    let scattered = try settings(#", "position_sigma_m": 0.2"#)
    #expect(scattered.filter.slowDeviation == 0.2)
    #expect(abs(scattered.constantDeviation(of: 1) - 0.10308) < 1e-4)
  }
}
