// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWBLab

struct ComputeAngle: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "angle",
    abstract: "Compute angles from phase differences of pairs of antennas.",
    discussion: """
      Input: time_s, and for each pair a column with its phase difference in radians (first antenna \
      less second), wrapped or not [, peer].
      Output: azimuth_deg (0 forward, positive to the left), elevation_deg (positive upwards; the \
      assumed one, if the antennas cannot tell), sigma_deg of the azimuth, status (ambiguous: \
      another direction is nearly as likely).

      The antennas are described in JSON, x forward, y left, z up:
        {"channel": 9, "pairs": [{"column": "pdoa_rad", "spacing_m": 0.0188}]}
        {"pairs": [{"column": "pdoa_rad", "offset_rad": 0.1, "table": [
          {"angle_deg": -90, "phase_rad": -3.4}, …, {"angle_deg": 90, "phase_rad": 2.9}]}]}
        {"channel": 5, "antennas": {"1": [0.02, 0, 0], "2": [0, 0.02, 0], "3": [-0.02, 0, 0]},
         "pairs": [{"column": "p12", "antennas": ["1", "2"]}, {"column": "p13", "antennas": \
      ["1", "3"]}]}
      Each pair may have offset_rad, noise_rad, an axis (side by side: [0, 1, 0]), and harmonics \
      [{"cos_rad", "sin_rad"}, …] of the azimuth. Instead of channel: frequency_hz or wavelength_m; \
      spacing_wavelengths needs neither. elevation_deg: the one to assume.
      """)

  @OptionGroup var table: ComputeOptions
  @Option(help: "Antennas and calibration (JSON).") var geometry: String
  @Option(help: "How far peers move in a second, in degrees, as a random walk.")
  var wander = 30.0
  @Flag(help: "Use only what was known at the time of each row.") var live = false

  func validate() throws {
    guard wander > 0, wander < 1e5 else {
      throw ValidationError("--wander is greater than 0.")
    }
  }

  func run() throws {
    try table.run { table throws(LabError) in
      try table.directions(
        geometry: try RangingCalibration(file: geometry), wander: wander * .pi / 180, live: live)
    }
  }
}
