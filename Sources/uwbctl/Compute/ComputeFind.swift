// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWBLab

struct ComputeFind: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Locate a stationary target from ranges taken while moving.",
    discussion: """
      Input: time_s,x,y,z,qw,qx,qy,qz,range_m [, azimuth_rad, peer]: the pose of the device in a \
      world whose z points up, the rotation from the device to the world, and azimuths from the \
      device's x towards its y.
      Output: target_x_m, target_y_m, target_z_m (world), horizontal_angle_deg from the device's x \
      towards its y, angle_sigma_deg, vertical (above, same, below, unknown), converged (1 or 0), \
      reasons (movement, horizontal_sweep, vertical_sweep, signal, joined by +), status.
      """)

  @OptionGroup var table: ComputeOptions
  @Option(help: "Noise of one range in metres, one standard deviation.") var sigma = 0.1
  @Option(help: "Noise of an azimuth in degrees, one standard deviation.") var azimuthSigma = 6.0

  func validate() throws {
    guard sigma > 0, azimuthSigma > 0, sigma < 1e3, azimuthSigma < 180 else {
      throw ValidationError("--sigma and --azimuth-sigma are greater than 0.")
    }
  }

  func run() throws {
    var parameters = TargetFinder.Parameters()
    parameters.rangeDeviation = sigma
    parameters.azimuthDeviation = azimuthSigma * .pi / 180
    try table.run { [parameters] table throws(LabError) in try table.targets(parameters) }
  }
}
