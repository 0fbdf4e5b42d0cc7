// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWBLab

/// `--plot FILE`.
struct PlotOptions: ParsableArguments {
  @Option(help: "Also draw the results (SVG).", completion: .file(extensions: ["svg"]))
  var plot: String?

  /// Draws, if asked to.
  func write(_ charts: @autoclosure () -> [Chart]) throws(LabError) {
    guard let plot else { return }
    try Figure(charts()).write(to: plot)
  }
}

/// Where a table comes from and goes to.
struct ComputeOptions: ParsableArguments {
  @Argument(help: "A CSV file; - or nothing: standard input.") var file: String?
  @Option(name: .shortAndLong, help: "Where to write the table (default: standard output).")
  var output: String?
  @OptionGroup var plot: PlotOptions

  /// Reads the table, computes, and writes the results.
  func run<Value>(
    _ compute: (CSVTable) throws(LabError) -> ComputedTable<Value>
  ) throws {
    try reporting {
      do throws(LabError) {
        let result = try compute(try CSVTable(file: file))
        try plot.write(result.charts)
        try result.write(to: output)
        warn(result.warnings)
        if let problem = result.problem { throw problem }
      } catch {
        // The reader has gone away, as `head` does.
        guard error.code == .outputClosed else { throw error }
      }
    }
  }
}

/// Prints warnings about the rows and columns of a table.
func warn(_ warnings: [String]) {
  for warning in warnings { standardError.write("uwbctl: \(printable(warning))\n") }
}

/// What two-way ranging needs to know of the radio.
struct RadioOptions: ParsableArguments {
  @Option(help: "Bits of the counter that the stamps come from: 32 or 40.")
  var counterBits = 40
  @Option(help: "Noise of a reception stamp in picoseconds, one standard deviation.")
  var stampNoise = 100.0
  @Option(help: "air, vacuum, or metres per second.")
  var speedOfLight = "air"

  func validate() throws {
    guard 8...63 ~= counterBits else {
      throw ValidationError("--counter-bits is 32 or 40; 8 to 63 are possible.")
    }
    guard stampNoise > 0, stampNoise < 1e6 else {
      throw ValidationError("--stamp-noise is in picoseconds and greater than 0.")
    }
    guard let speed, speed > 1e8, speed < 4e8 else {
      throw ValidationError("--speed-of-light is air, vacuum, or a number near 3e8.")
    }
  }

  private var speed: Double? {
    switch speedOfLight {
    case "air": SpeedOfLight.inAir
    case "vacuum": SpeedOfLight.inVacuum
    default: Double(speedOfLight)
    }
  }

  var parameters: TwoWayParameters {
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: counterBits)
    parameters.stampDeviation = stampNoise * 1e-12
    parameters.speedOfLight = speed ?? SpeedOfLight.inAir
    return parameters
  }
}
