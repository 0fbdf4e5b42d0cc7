// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Ranging
import SystemPackage
import UWBLab

struct Compute: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compute distances, angles and positions from recorded tables (CSV).",
    discussion: """
      Columns are found by name, in any order; the suffix of a name is its unit (time_s or \
      time_ms, range_m or range_cm, azimuth_rad or azimuth_deg). The output has every column of \
      the input, followed by the computed ones. A row that cannot be computed has empty cells and \
      the reason as its status.

      With --live, rows are read and written one by one, so a command can be part of a pipe that \
      never ends: uwbctl range --format csv | uwblab compute filter --live. Ctrl-C ends it in order.
      """,
    subcommands: [
      ComputeDSTWR.self, ComputeSSTWR.self, ComputeFilter.self, ComputeAngle.self,
      ComputeLocate.self, ComputeFind.self,
    ])
}

struct PlotOptions: ParsableArguments {
  @Option(help: "Also draw the results (SVG).", completion: .file(extensions: ["svg"]))
  var plot: String?

  /// Draws the charts if requested.
  func write(_ charts: @autoclosure () -> [Chart]) throws(LabError) {
    guard let plot else { return }
    try Figure(charts()).write(to: plot)
  }
}

/// The input and the output of a table.
struct ComputeOptions: ParsableArguments {
  @Argument(help: "A CSV file; - or nothing: standard input.") var file: String?
  @Option(name: .shortAndLong, help: "The file for the table (default: standard output).")
  var output: String?
  @OptionGroup var plot: PlotOptions
  @Option(
    help: """
      The column with the truth, or the beginning of its name (truth for truth_x_m, truth_y_m), or \
      a number in metres or radians: print the errors of the results, and how often they exceed \
      the stated deviations.
      """)
  var truth: String?

  func validate() throws { try checkOutput("--plot", plot.plot) }

  /// A chart and a score need all rows.
  var needsWholeTable: Bool { plot.plot != nil || truth != nil }

  /// Rejects a second file that is standard output.
  func checkOutput(_ option: String, _ file: String?) throws {
    try require(
      file != "-" || output ?? "-" != "-",
      "Give --output FILE with \(option) -: the table is written to standard output otherwise.")
  }

  /// Reads the table, computes, and writes the results.
  func run<Value>(
    _ compute: (CSVTable) throws(LabError) -> ComputedTable<Value>
  ) throws {
    do throws(LabError) {
      let result = try compute(try CSVTable(file: file))
      let scores = try truth.map { name throws(LabError) in try result.scores(truth: name) } ?? []
      try plot.write(result.charts(with: scores))
      try result.write(to: output)
      warn(result.warnings)
      for score in scores { standardError.write("\(score)\n") }
      if let problem = result.problem { throw problem }
    } catch {
      // The reader has exited, as `head` does.
      guard error.code == .outputClosed else { throw Failure(error)?.report() ?? error }
    }
  }
}

/// For results that need no later rows.
struct LiveOption: ParsableArguments {
  @Flag(
    help: """
      Read and write row by row, and use only the rows up to each time. With \
      --plot or --truth, the whole table is read first; ss-twr takes neither with --live.
      """)
  var live = false
}

/// A command that computes a table as a whole with `run()`, and without other threads, or row by
/// row.
protocol TableCommand: LiveCommand {
  var table: ComputeOptions { get }
  var option: LiveOption { get }
}

extension TableCommand {
  var isLive: Bool { option.live && !table.needsWholeTable }
}

extension ComputeOptions {
  /// Computes the table row by row, until the input or a signal ends it.
  func runLive<Value>(
    _ begin: @escaping @Sendable (CSVTable) throws(LabError) -> RowComputation<Value>
  ) async throws {
    let (file, output) = (file, output)
    try await reporting {
      try await Ending.cancelling {
        do throws(LabError) {
          warn(try RowComputation.run(from: file, to: output, begin))
        } catch {
          guard error.code == .outputClosed else { throw error }
          Ending.outputFailed(.brokenPipe)
        }
      }
    }
  }
}

/// Prints warnings about the rows and columns of a table.
func warn(_ warnings: [String]) {
  for warning in warnings { note(warning) }
}

/// The calibration of the ranges of a table.
struct CalibrationOption: ParsableArguments {
  @Option(
    help: """
      Delays and power table to correct the ranges with, as written by calibrate and ss-twr \
      --learn; the deviations include the remaining error.
      """,
    completion: .file(extensions: ["json"]))
  var calibration: String?
}

/// The parameters of the radio for two-way ranging.
struct RadioOptions: ParsableArguments {
  @Option(help: "Bits of the counter of the timestamps: 32 or 40 (default: 40).")
  var counterBits: Int?
  @Option(help: "Noise of a reception timestamp in picoseconds, one standard deviation.")
  var stampNoise = 100.0
  @Option(help: "Speed of light: air, vacuum, or metres per second.")
  var speedOfLight = "air"
  @Option(
    help: """
      Error of distances from the antenna delays of boards without --calibration, in metres, one \
      standard deviation.
      """)
  var biasSigma = TwoWayParameters().antennaDelayDeviation

  func validate() throws {
    try require(8...63 ~= counterBits ?? 40, "--counter-bits is 32 or 40; 8 to 63 are possible.")
    try require(
      stampNoise > 0 && stampNoise < 1e6, "--stamp-noise is in picoseconds and greater than 0.")
    try require(0..<1000 ~= biasSigma, "--bias-sigma is in metres and not negative.")
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

  /// Unless the width was given, stamps must not appear to have another width.
  func check(_ table: CSVTable, stamps: Int) throws(LabError) {
    if counterBits == nil { try table.checkCounterWidth(stamps: stamps) }
  }

  var parameters: TwoWayParameters {
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: counterBits ?? 40)
    parameters.stampDeviation = stampNoise * 1e-12
    parameters.speedOfLight = speed ?? SpeedOfLight.inAir
    parameters.antennaDelayDeviation = biasSigma
    return parameters
  }
}

struct ComputeAngle: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "angle",
    abstract: "Compute angles from phase differences of pairs of antennas.",
    discussion: """
      Input: time_s, and for each pair a column with its phase difference in radians (first \
      antenna minus second), wrapped or not [, peer].
      Output: azimuth_deg (0 forward, positive to the left), elevation_deg (positive upwards; the \
      assumed one, if the antennas do not determine it), sigma_deg of the azimuth, status \
      (ambiguous: another direction is nearly as likely).

      The antennas are described in JSON, x forward, y left, z up:
        {"channel": 9, "pairs": [{"column": "pdoa_rad", "spacing_m": 0.0188}]}
      or
        {"pairs": [{"column": "pdoa_rad", "offset_rad": 0.1, "table": [
          {"angle_deg": -90, "phase_rad": -3.4}, …,
          {"angle_deg": 90, "phase_rad": 2.9}]}]}
      or
        {"channel": 5,
         "antennas": {"1": [0.02, 0, 0], "2": [0, 0.02, 0], "3": [-0.02, 0, 0]},
         "pairs": [{"column": "p12", "antennas": ["1", "2"]},
                   {"column": "p13", "antennas": ["1", "3"]}]}
      Each pair may have offset_rad, noise_rad, an axis (side by side: [0, 1, 0]), and harmonics \
      [{"cos_rad", "sin_rad"}, …] of the azimuth. Instead of channel: frequency_hz or \
      wavelength_m; spacing_wavelengths needs neither. elevation_deg: the elevation to assume.
      """)

  @OptionGroup var table: ComputeOptions
  @OptionGroup var option: LiveOption
  @Option(help: "Antennas and calibration (JSON).") var geometry: String
  @Option(help: "Movement of peers in a second, in degrees, as a random walk.")
  var wander = 30.0

  func validate() throws {
    try require(wander > 0 && wander < 1e5, "--wander is greater than 0.")
  }

  func runLive() async throws {
    let (file, wander) = (geometry, wander * .pi / 180)
    try await table.runLive { table throws(LabError) in
      try table.liveDirections(geometry: try RangingCalibration(file: file), wander: wander)
    }
  }

  func run() throws {
    try table.run { table throws(LabError) in
      try table.directions(
        geometry: try RangingCalibration(file: geometry), wander: wander * .pi / 180,
        live: option.live)
    }
  }
}

struct ComputeLocate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "locate",
    abstract: "Compute positions from ranges, or differences of ranges, to several anchors.",
    discussion: """
      Input: time_s,anchor,range_m, or time_s,anchor_a,anchor_b,tdoa_m, which is the distance to b \
      minus the distance to a [, peer, sigma_m, bias_sigma_m]. Rows of one peer at one time are an \
      epoch.
      Output, a row for each epoch with the other columns of its first row: x_m, y_m, z_m, cov_xx, \
      cov_xy, cov_xz, cov_yy, cov_yz, cov_zz (m²), used (the number of measurements), status: ok, \
      no_position, or a possible problem: mirror, coplanar (unknown heights), dilution, \
      inconsistent, rejected.

      Anchors in JSON: {"anchors": {"A1": [0, 0, 2.5], "A2": [5, 0, 2.5]}, "height_m": 1.2}, or \
      {"anchors": [{"id": "A1", "x": 0, "y": 0, "z": 2.5, "bias_m": 0.1}, …]}; height_m is \
      the height of the located peer, if it is known.
      """)

  @OptionGroup var table: ComputeOptions
  @OptionGroup var known: CalibrationOption
  @Option(help: "Positions of the anchors (JSON).") var anchors: String
  @Option(help: "Noise of one range in metres, one standard deviation, unless a column gives it.")
  var sigma = 0.15
  @Option(help: "The known height in metres; overrides the height in the file.") var height: Double?
  @Option(
    help: """
      Acceleration of peers, in m²/s³: 0.1 trolleys, 1 hands and walking, 10 drones (default: \
      learned from the measurements).
      """)
  var acceleration: Double?
  @Flag(
    help: "Use only the rows up to each time; the whole table is read first.")
  var live = false
  @Flag(help: "Compute each epoch independently.") var single = false

  func validate() throws {
    let acceleration = acceleration ?? 1
    try require(
      sigma > 0 && acceleration > 0 && sigma < 1e3 && acceleration < 1e6,
      "--sigma and --acceleration are greater than 0.")
  }

  func run() throws {
    try table.run { table throws(LabError) in
      try table.positions(
        try Anchors(file: anchors), sigma: sigma, height: height,
        motion: single ? .independent : .tracked(acceleration: acceleration, live: live),
        calibration: try .read(known.calibration))
    }
  }
}

struct ComputeFind: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Locate a stationary target from ranges taken while moving.",
    discussion: """
      Input: time_s,x,y,z,qw,qx,qy,qz,range_m [, azimuth_rad, peer]: the pose of the device in a \
      world whose z points up, the rotation from the device to the world, and azimuths from the \
      device's x towards its y. In place of the quaternion, yaw_deg may be the angle of the \
      device's x, from the world's x towards its y; without z, the heights are 0.
      Output: target_x_m, target_y_m, target_z_m (world), horizontal_angle_deg from the device's x \
      towards its y, angle_sigma_deg, vertical (above, same, below, above_or_below, \
      unknown), converged (1 or 0), reasons (movement, horizontal_sweep, vertical_sweep, signal, \
      target_movement, joined by +), status.
      """)

  @OptionGroup var table: ComputeOptions
  @OptionGroup var option: LiveOption
  @OptionGroup var known: CalibrationOption
  @Option(help: "Noise of one range in metres, one standard deviation.") var sigma = 0.1
  @Option(help: "Noise of an azimuth in degrees, one standard deviation.") var azimuthSigma = 6.0

  func validate() throws {
    try require(
      sigma > 0 && azimuthSigma > 0 && sigma < 1e3 && azimuthSigma < 180,
      "--sigma and --azimuth-sigma are greater than 0.")
  }

  private var parameters: TargetFinder.Parameters {
    var parameters = TargetFinder.Parameters()
    parameters.rangeDeviation = sigma
    parameters.azimuthDeviation = azimuthSigma * .pi / 180
    return parameters
  }

  func runLive() async throws {
    try await table.runLive { [parameters, file = known.calibration] table throws(LabError) in
      try table.liveTargets(parameters, calibration: try .read(file))
    }
  }

  func run() throws {
    try table.run { table throws(LabError) in
      try table.targets(parameters, calibration: try .read(known.calibration))
    }
  }
}

struct ComputeDSTWR: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ds-twr",
    abstract: "Compute distances from the six timestamps of double-sided ranging.",
    discussion: """
      Input: t1,t2,t3,t4,t5,t6 in ticks of 15.65 ps, or in t1_ns and so on: poll sent and \
      received, response sent and received, final sent and received [, peer, time_s, \
      rx_power_dbm]; with a --calibration that has delays of boards also board_a,board_b [, \
      channel, antenna_a, antenna_b].
      t5 and t6 may instead be the timestamps of a second response, sent and received. The \
      intervals show which of the two it is.
      Output: distance_m, sigma_m, bias_sigma_m (the part of sigma_m that all distances of a peer \
      share, and that filter and locate do not treat as noise), status. Where only the final is \
      missing, the distance is single-sided with the clock offset from other rounds of that peer, \
      and the status is single_sided.
      """)

  @OptionGroup var table: ComputeOptions
  @OptionGroup var option: LiveOption
  @OptionGroup var radio: RadioOptions
  @Option(help: "Delays and power table, as written by calibrate and ss-twr --learn.")
  var calibration: String?

  func runLive() async throws {
    let (parameters, file) = (radio.parameters, calibration)
    try await table.runLive { table throws(LabError) in
      try table.liveDoubleSidedDistances(parameters, calibration: try .read(file))
    }
  }

  func run() throws {
    try table.run { table throws(LabError) in
      try radio.check(table, stamps: 6)
      return try table.doubleSidedDistances(
        radio.parameters, calibration: try .read(calibration))
    }
  }
}

struct ComputeSSTWR: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ss-twr",
    abstract: "Compute distances from the four timestamps of single-sided ranging.",
    discussion: """
      Input: t1,t2,t3,t4 in ticks of 15.65 ps, or in t1_ns and so on: poll sent and received, \
      response sent and received [, cfo_ppm, peer, rx_power_dbm, time_s; with a --calibration that \
      has delays of boards also board_a, board_b, channel, antenna_a, antenna_b]. cfo_ppm is the \
      offset of the initiator's clock, positive if it is faster than the responder's. It is used \
      for rounds whose poll cannot be compared with the previous one. Comparing needs time_s when \
      polls are further apart than the range of the counter (17.2 s with 40 bits, 67 ms with 32). \
      With --live, rounds before a peer's clock is known have the status unknown_clock_offset. t5 \
      and t6, the timestamps of a second response, give the clock offset within the same round.
      Output: distance_m, sigma_m, bias_sigma_m (the part of sigma_m that all distances of a peer \
      share, and that filter and locate do not treat as noise), status.

      --learn FILE with --truth COLUMN fits the delay of each peer and the bias by received level; \
      --calibration FILE subtracts both.
      """)

  /// The table of DW1000 for the received level.
  enum PowerTable: String, ExpressibleByArgument, CaseIterable {
    case none
    case dw1000PRF64 = "dw1000-prf64"
    case dw1000PRF16 = "dw1000-prf16"
  }

  @OptionGroup var table: ComputeOptions
  @OptionGroup var option: LiveOption
  @OptionGroup var radio: RadioOptions
  @Option(help: "Write delays and power table to this file (JSON); needs --truth.")
  var learn: String?
  @Option(help: "Delays and power table, as written by calibrate and --learn.")
  var calibration: String?
  @Option(
    help: """
      Without --calibration: the vendor's table of the bias by received level, for chips that are \
      known to be a DW1000 (timestamps do not reveal it, and other chips differ).
      """)
  var powerTable = PowerTable.none

  func validate() throws {
    try require(learn == nil || table.truth != nil, "--learn needs --truth.")
    try require(learn == nil || calibration == nil, "Give either --learn or --calibration.")
    try table.checkOutput("--learn", learn)
    try require(
      !option.live || learn == nil && !table.needsWholeTable,
      "--learn, --plot and --truth need the whole table: leave out --live.")
    try require(
      learn != "-" || table.plot.plot != "-", "Give a file for --learn or --plot instead of -.")
  }

  func runLive() async throws {
    let (parameters, file, bias) = (radio.parameters, calibration, powerTable.bias)
    try await table.runLive { table throws(LabError) in
      try table.liveSingleSidedDistances(
        parameters, calibration: try .read(file), powerBias: bias)
    }
  }

  func run() throws {
    try table.run { table throws(LabError) in
      try radio.check(table, stamps: 4)
      var correction: RangingCalibration?
      if let learn, let truth = self.table.truth {
        let learned = try table.singleSidedCalibration(radio.parameters, truth: truth)
        try learned.write(to: learn)
        standardError.write(learned.summary + "\n")
        correction = learned
      } else {
        correction = try .read(calibration)
      }
      return try table.singleSidedDistances(
        radio.parameters, calibration: correction, powerBias: powerTable.bias)
    }
  }
}

extension RangingCalibration? {
  /// Reads the calibration in a file, if one is named.
  fileprivate static func read(_ path: String?) throws(LabError) -> RangingCalibration? {
    guard let path else { return nil }
    return try RangingCalibration(file: path)
  }
}

extension ComputeSSTWR.PowerTable {
  var bias: PowerBias? {
    switch self {
    case .none: nil
    case .dw1000PRF64: .dw1000PRF64
    case .dw1000PRF16: .dw1000PRF16
    }
  }
}

struct ComputeFilter: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "filter",
    abstract: "Filter noise and outliers out of distances.",
    discussion: """
      Input: time_s,range_m [, peer, sigma_m, bias_sigma_m, rx_power_dbm, fp_power_dbm, \
      peak_over_fp_db, fp_snr_db, peak_delay_ns, sts_delay_ns]. Each peer is filtered separately. \
      Levels and delays determine the probability of a blocked direct path, by rules or a \
      --calibration with a path. bias_sigma_m is the constant part of sigma_m, as ds-twr and \
      ss-twr write it: it remains in the result.
      Output: range_m, sigma_m, accepted (1 or 0), nlos_probability where it is known, status; the \
      measured range becomes input_range_m. Rows that are not accepted have the estimate for their \
      time. Every estimate uses the whole recording, or with --live only the rows up to its time, \
      as with range and replay.
      """)

  @OptionGroup var table: ComputeOptions
  @OptionGroup var option: LiveOption
  @OptionGroup var known: CalibrationOption
  @Option(help: "Noise of one range in metres, one standard deviation, unless a column gives it.")
  var sigma = 0.1
  @Option(
    help: """
      Acceleration of peers, in m²/s³: 0.1 trolleys, 1 hands and walking, 10 drones (default: \
      learned from the ranges).
      """)
  var acceleration: Double?
  @Option(
    help: """
      Error in metres that the ranges of some seconds share, one standard deviation: reflections \
      and antennas. It remains in sigma_m.
      """)
  var slowError = RangeEstimator.Parameters().slowDeviation
  @Option(
    help: """
      Common error of all ranges in metres, one standard deviation, unless a column or \
      --calibration gives it: 0.3 for boards without a calibration. It remains in sigma_m.
      """)
  var biasSigma = 0.0

  func validate() throws {
    let acceleration = acceleration ?? 1
    try require(
      sigma > 0 && sigma < 1000 && acceleration > 0 && acceleration < 1e6,
      "--sigma and --acceleration are greater than 0.")
    try require(0..<1000 ~= slowError, "--slow-error is in metres and not negative.")
    try require(0..<1000 ~= biasSigma, "--bias-sigma is in metres and not negative.")
  }

  private var parameters: RangeEstimator.Parameters {
    var parameters = RangeEstimator.Parameters()
    parameters.slowDeviation = slowError
    if let acceleration {
      parameters.accelerationDensity = acceleration
      parameters.learnsAcceleration = false
    }
    return parameters
  }

  func runLive() async throws {
    try await table.runLive {
      [parameters, sigma, biasSigma, file = known.calibration] table throws(LabError) in
      try table.liveRanges(
        sigma: sigma, biasDeviation: biasSigma, parameters, calibration: try .read(file))
    }
  }

  func run() throws {
    try table.run { table throws(LabError) in
      try table.filteredRanges(
        sigma: sigma, biasDeviation: biasSigma, parameters, live: option.live,
        calibration: try .read(known.calibration))
    }
  }
}
