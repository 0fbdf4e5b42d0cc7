// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWBLab

struct ComputeFilter: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "filter",
    abstract: "Filter noise and outliers out of distances.",
    discussion: """
      Input: time_s,range_m [, peer, sigma_m, rx_power_dbm, fp_power_dbm]. Each peer is filtered \
      separately; the two levels tell how likely the direct path is blocked.
      Output: range_m, sigma_m, accepted (1 or 0), status; the measured range becomes \
      input_range_m. Rows that are not accepted have the estimate for their time. Every estimate \
      uses the whole recording, or with --live what was known at its time.
      """)

  @OptionGroup var table: ComputeOptions
  @Option(help: "Noise of one range in metres, one standard deviation, where no column tells it.")
  var sigma = 0.1
  @Option(
    help: """
      How much peers accelerate, in m²/s³: 0.1 trolleys, 1 hands and walking, 10 drones (default: \
      learned from the ranges).
      """)
  var acceleration: Double?
  @Option(
    help: """
      Error in metres that the ranges of some seconds share, one standard deviation: reflections \
      and antennas. It remains in sigma_m.
      """)
  var slowError = RangeEstimator.Parameters().slowDeviation
  @Flag(help: "Use only what was known at the time of each row, as range and replay do.")
  var live = false

  func validate() throws {
    let acceleration = acceleration ?? 1
    guard sigma > 0, sigma < 1000, acceleration > 0, acceleration < 1e6 else {
      throw ValidationError("--sigma and --acceleration are greater than 0.")
    }
    guard 0..<1000 ~= slowError else {
      throw ValidationError("--slow-error is in metres and not negative.")
    }
  }

  func run() throws {
    var parameters = RangeEstimator.Parameters()
    parameters.slowDeviation = slowError
    if let acceleration {
      parameters.accelerationDensity = acceleration
      parameters.learnsAcceleration = false
    }
    try table.run { [parameters] table throws(LabError) in
      try table.filteredRanges(sigma: sigma, parameters, live: live)
    }
  }
}
