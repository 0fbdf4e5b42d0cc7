// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Estimators
import Formats
import Ranging
import SystemPackage
import UCI
import UWBLab

struct Compute: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compute distances, angles and positions from recorded tables (CSV).",
    discussion: """
      Columns are found by name, in any order; the suffix of a name is its unit (time_s or \
      time_ms, range_m or range_cm, azimuth_rad or azimuth_deg). --unit gives the unit of columns \
      without one; otherwise it is the first of these. Angles need their unit. The output has \
      every column of the input, followed by the computed ones. A row that cannot be computed has \
      empty cells and the reason as its status.

      With --live, rows are read and written one by one, so a command can be part of a pipe that \
      never ends: uwbctl range --format csv | uwblab compute filter --live. Ctrl-C ends it in order. \
      On a terminal, the rows then have the time, the peer and the computed columns without \
      covariances.
      """,
    subcommands: [
      ComputeDSTWR.self, ComputeSSTWR.self, ComputeFilter.self, ComputeAngle.self,
      ComputeLocate.self, ComputeFind.self,
    ])
}

/// The option `--plot`, which two groups declare: groups in groups would be slow (see
/// `DeviceCommand`).
enum Plot {
  static let help: ArgumentHelp = "Also draw the results (SVG)."
  static let completion = CompletionKind.file(extensions: ["svg"])

  static func check(_ file: String?) throws {
    let name = FilePath(file ?? "")
    try require(
      ["svg", nil].contains(name.extension?.lowercased()),
      "--plot draws SVG: give a name that ends in .svg, not \(printable(name.string)).")
  }

  /// Draws the charts if requested.
  static func write(_ charts: @autoclosure () -> [Chart], to file: String?) throws(LabError) {
    guard let file else { return }
    try Figure(charts()).write(to: file)
  }
}

/// The facts about a table that its text does not state.
struct TableOptions: ParsableArguments {
  static let headerHelp: ArgumentHelp = """
    The line of the header, counted from 1; it may be a comment (default: the first line that \
    is not a comment).
    """
  static let unitHelp = ArgumentHelp(
    "The unit of columns whose names have none: azimuth=deg, t1,t2,t3,t4=ns; repeatable.",
    valueName: "columns=unit")

  @Option(help: Self.headerHelp) var header: Int?
  @Option(help: Self.unitHelp) var unit: [String] = []

  init() {}

  init(header: Int?, unit: [String]) { (self.header, self.unit) = (header, unit) }

  func validate() throws {
    try require(header ?? 1 > 0, "--header is a line, counted from 1.")
    var format = CSVTable.Format()
    for text in unit where !format.setUnits(text) {
      let parts = text.split(separator: "=")
      throw ValidationError(
        parts.count == 2
          ? "--unit takes one of \(CSVTable.Format.allUnits.joined(separator: ", ")), "
            + "not \(printable(String(parts[1])))."
          : "--unit takes COLUMN=UNIT, such as azimuth=deg, not \(printable(text)).")
    }
  }

  /// Reads a table.
  ///
  /// - Parameter file: nil or `-` is standard input.
  func table(in file: String?) throws(LabError) -> CSVTable {
    try withProgress("Reading", file) { () throws(LabError) in try CSVTable(file: file, format) }
  }

  /// Reads a table, until the task is cancelled.
  func reading(_ file: String) async throws -> CSVTable {
    let format = format
    return try await computing(Self.work("Reading", file)) { try CSVTable(file: file, format) }
  }

  /// Runs work on a file with a line of progress.
  ///
  /// - Parameter verb: the beginning of the line; the name of the file follows.
  func withProgress<Result>(
    _ verb: String, _ file: String?, _ body: () throws(LabError) -> Result
  ) throws(LabError) -> Result {
    guard let work = Self.work(verb, file) else { return try body() }
    return try CommandSupport.withProgress(work, body)
  }

  /// Returns the beginning of a line of progress; nil where the line would disturb a user who types
  /// the rows.
  private static func work(_ verb: String, _ file: String?) -> String? {
    guard let file, file != "-" else {
      return standardInput.isTerminal ? nil : "\(verb) standard input"
    }
    return "\(verb) \(printable(file))"
  }

  var format: CSVTable.Format {
    var format = CSVTable.Format()
    format.header = header
    for text in unit { _ = format.setUnits(text) }
    return format
  }
}

extension CSVTable {
  /// The beginning of a line of progress.
  var work: String { "Computing \(counted(rowCount, "row"))" }
}

/// The input and the output of a table.
struct ComputeOptions: ParsableArguments {
  @Argument(help: "A CSV file; - or nothing: standard input.") var file: String?
  @Option(help: TableOptions.headerHelp) var header: Int?
  @Option(help: TableOptions.unitHelp) var unit: [String] = []
  @Option(name: .shortAndLong, help: "The file for the table (default: standard output).")
  var output: String?
  @Option(help: Plot.help, completion: Plot.completion) var plot: String?
  @Option(
    help: """
      The column with the truth, or the beginning of its name (truth for truth_x_m, truth_y_m), or \
      a number in metres or radians: print the errors of the results, and how often they exceed \
      the stated deviations.
      """)
  var truth: String?

  var input: TableOptions { TableOptions(header: header, unit: unit) }

  func validate() throws {
    try input.validate()
    try Plot.check(plot)
    try checkOutput("--plot", plot)
  }

  /// A chart and a score need all rows.
  var needsWholeTable: Bool { plot != nil || truth != nil }

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
      let table = try input.table(in: file)
      let result = try withProgress(table.work) {
        () throws(LabError) in
        try compute(table)
      }
      let scores = try truth.map { name throws(LabError) in try result.scores(truth: name) } ?? []
      try Plot.write(result.charts(with: scores), to: plot)
      try result.write(to: output)
      warn(result.warnings)
      for score in scores { standardError.write(lines: "\(score)\n") }
      if let problem = result.problem { throw problem }
    } catch {
      // The reader has exited, as `head` does.
      guard error.code == .outputClosed else { throw Failure(error)?.report() ?? error }
    }
  }
}

extension ComputeOptions {
  /// Computes a table that need not be in memory as a whole.
  ///
  /// - Parameter compute: returns the warnings and the problem.
  func runInPieces(
    _ compute: (_ input: String?, _ output: String?) throws(LabError) -> ([String], LabError?)
  ) throws {
    do throws(LabError) {
      let (warnings, problem) = try input.withProgress("Computing", file) { () throws(LabError) in
        try compute(file, output)
      }
      warn(warnings)
      if let problem { throw problem }
    } catch {
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
protocol TableCommand: LiveCommand, Sendable {
  associatedtype Value
  var table: ComputeOptions { get }
  var option: LiveOption { get }
  /// Returns the computation of a table, of which a live one has only the header.
  func computation(of table: CSVTable) throws(LabError) -> RowComputation<Value>
}

extension ComputeOptions {
  /// Computes row by row, until the input or a signal ends it.
  ///
  /// - Parameter compute: returns the warnings.
  func runLive(_ compute: @escaping @Sendable () throws(LabError) -> [String]) async throws {
    try await reporting {
      try await Ending.cancelling {
        do throws(LabError) { warn(try compute()) } catch {
          guard error.code == .outputClosed else { throw error }
          Ending.outputFailed(.brokenPipe)
        }
      }
    }
  }
}

extension TableCommand {
  var isLive: Bool { option.live && !table.needsWholeTable }

  func run() throws {
    guard table.needsWholeTable else {
      return try table.runInPieces { input, output throws(LabError) in
        try RowComputation.compute(from: input, to: output, table.input.format, computation)
      }
    }
    try table.run { table throws(LabError) in try computation(of: table).table() }
  }

  func runLive() async throws {
    let (command, table) = (self, table)
    try await table.runLive { () throws(LabError) in
      try RowComputation.run(from: table.file, to: table.output, table.input.format) {
        table throws(LabError) in try command.computation(of: table)
      }
    }
  }
}

/// Prints warnings about the rows and columns of a table.
func warn(_ warnings: [String]) {
  for warning in warnings { note(warning) }
}

/// The movement of peers.
struct MotionOption: ParsableArguments {
  @Option(
    help: """
      Acceleration of peers, in m²/s³: 0.1 trolleys, 1 hands and walking, 10 drones (default: \
      learned from the measurements).
      """)
  var acceleration: Double?
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

extension RangingCalibration? {
  /// Reads the calibration in a file, if one is named.
  static func read(_ path: String?) throws(LabError) -> RangingCalibration? {
    guard let path else { return nil }
    return try RangingCalibration(file: path)
  }
}

struct ComputeAngle: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "angle",
    abstract: "Compute angles from phase differences of pairs of antennas.",
    discussion: """
      Input: time_s, and for each pair a column with its phase difference (first antenna minus \
      second), such as pdoa_rad or pdoa_deg, wrapped or not [, peer].
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
         "pairs": [{"column": "p12_rad", "antennas": ["1", "2"]},
                   {"column": "p13_rad", "antennas": ["1", "3"]}]}
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
    try require(
      wander > 0 && wander < 1e5, "--wander takes degrees, more than 0 and less than 100000.")
  }

  func computation(
    of table: CSVTable
  ) throws(LabError) -> RowComputation<DirectionFinder.Direction> {
    try table.directing(
      geometry: try RangingCalibration(file: geometry), wander: wander * .pi / 180,
      live: option.live)
  }
}

struct ComputeLocate: LiveCommand, Sendable {
  static let configuration = CommandConfiguration(
    commandName: "locate",
    abstract: "Compute positions from ranges, or differences of ranges, to several anchors.",
    discussion: """
      Input: time_s,anchor,range_m, or time_s,anchor_a,anchor_b,tdoa_m, which is the distance to b \
      minus the distance to a [, peer, sigma_m, bias_sigma_m]. Rows of one peer at one time are an \
      epoch. Without a column anchor, the peers are the anchors, as in uwbctl range --format csv, \
      whose calibrated distance is taken unless --calibration is given.
      Distances of boards without a calibration have a constant error of 0.3 m: half of its variance \
      is the same for all anchors. r95_m includes it. --calibration makes it smaller, and so do \
      bias_m of anchors, the column bias_sigma_m, and the deviations of a calibrated uwbctl range.
      Output, a row for each epoch with the other columns of its first row: x_m, y_m, z_m, r95_m \
      (the radius with 95 % of the places, seen from above), cov_xx, cov_xy, cov_xz, cov_yy, cov_yz, \
      cov_zz (m²), used (the number of measurements), status: ok, no_position, or a possible \
      problem: mirror, coplanar (unknown heights), dilution, inconsistent, rejected.

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
  @OptionGroup var motion: MotionOption
  @Flag(
    help: """
      Read and write epoch by epoch, and use only the rows up to each time. An epoch is written \
      after the first row of another time, in the first second of a peer after this second. With \
      --plot, --truth or --single, the whole table is read first.
      """)
  var live = false
  @Flag(help: "Compute each epoch independently.") var single = false

  func validate() throws {
    let acceleration = motion.acceleration ?? 1
    try require(
      sigma > 0 && acceleration > 0 && sigma < 1e3 && acceleration < 1e6,
      "--sigma takes metres, more than 0 and less than 1000, and --acceleration more than 0 and less "
        + "than 1000000.")
  }

  var isLive: Bool { live && !single && !table.needsWholeTable }

  func runLive() async throws {
    let command = self
    try await table.runLive { () throws(LabError) in
      try Anchors(file: command.anchors).locate(
        from: command.table.file, to: command.table.output, command.table.input.format,
        sigma: command.sigma, height: command.height, acceleration: command.motion.acceleration,
        calibration: try RangingCalibration?.read(command.known.calibration))
    }
  }

  func run() throws {
    try table.run { table throws(LabError) in
      try table.positions(
        try Anchors(file: anchors), sigma: sigma, height: height,
        motion: single ? .independent : .tracked(acceleration: motion.acceleration, live: live),
        calibration: try .read(known.calibration))
    }
  }
}

struct ComputeFind: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Locate a stationary target from ranges taken while moving.",
    discussion: """
      Input: time_s,x,y,z,qw,qx,qy,qz,range_m [, azimuth_rad, bias_sigma_m, peer]: the pose of the \
      device in a world whose z points up, the rotation from the device to the world, and azimuths from the \
      device's x towards its y. In place of the quaternion, yaw_deg may be the angle of the \
      device's x, from the world's x towards its y; without z, the heights are 0.
      Distances of boards without a calibration have a constant error of 0.3 m, so directions \
      converge later. --calibration makes it smaller, and so do the column bias_sigma_m and the \
      deviations of a calibrated uwbctl range.
      Output: target_x_m, target_y_m, target_z_m (world), horizontal_angle_deg from the device's x \
      towards its y, angle_sigma_deg, vertical (above, same, below, above_or_below, \
      unknown), converged (1 or 0), reasons (movement, horizontal_sweep, vertical_sweep, signal, \
      target_movement, joined by +), status.
      """)

  @OptionGroup var table: ComputeOptions
  @OptionGroup var option: LiveOption
  @OptionGroup var known: CalibrationOption
  @Option(
    help: """
      Noise of one range in metres, one standard deviation, until the ranges themselves show their \
      noise.
      """)
  var sigma = 0.1
  @Option(
    help: """
      Drift of the heading in degrees a minute, one standard deviation. Where the ranges indicate \
      more, up to five times as much is assumed.
      """)
  var headingDrift = 1.0
  @Option(help: "Noise of an azimuth in degrees, one standard deviation.") var azimuthSigma = 6.0

  func validate() throws {
    try require(
      sigma > 0 && azimuthSigma > 0 && sigma < 1e3 && azimuthSigma < 180,
      "--sigma takes metres, more than 0 and less than 1000, and --azimuth-sigma degrees, more than "
        + "0 and less than 180.")
    try require(
      headingDrift > 0 && headingDrift < 1000, "--heading-drift is in degrees a minute, above 0.")
  }

  private var parameters: TargetFinder.Parameters {
    var parameters = TargetFinder.Parameters()
    parameters.rangeDeviation = sigma
    parameters.headingDrift = headingDrift * .pi / 180 / 60
    parameters.azimuthDeviation = azimuthSigma * .pi / 180
    return parameters
  }

  func computation(of table: CSVTable) throws(LabError) -> RowComputation<TargetEstimate> {
    try table.locating(parameters, calibration: try .read(known.calibration))
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
      ss-twr write it: it remains in the result. From the output of uwbctl range, the calibrated \
      distance is taken with its deviations, unless --calibration is given.
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
  @OptionGroup var motion: MotionOption
  @Option(
    help: """
      Error in metres that the ranges of some seconds share, one standard deviation: reflections \
      and antennas. It remains in sigma_m. (default: the scatter of positions in --calibration, \
      otherwise 0.07)
      """)
  var slowError: Double?
  @Option(
    help: """
      Common error of all ranges in metres, one standard deviation, unless a column or \
      --calibration gives it: 0.3 for boards without a calibration. It remains in sigma_m.
      """)
  var biasSigma = 0.0

  func validate() throws {
    let acceleration = motion.acceleration ?? 1
    try require(
      sigma > 0 && sigma < 1000 && acceleration > 0 && acceleration < 1e6,
      "--sigma takes metres, more than 0 and less than 1000, and --acceleration more than 0 and less "
        + "than 1000000.")
    try require(0..<1000 ~= slowError ?? 0, "--slow-error is in metres and not negative.")
    try require(0..<1000 ~= biasSigma, "--bias-sigma is in metres and not negative.")
  }

  private func parameters(_ calibration: RangingCalibration?) -> RangeEstimator.Parameters {
    var parameters = RangeEstimator.Parameters()
    parameters.slowDeviation =
      slowError ?? calibration?.residuals?.positionDeviation ?? parameters.slowDeviation
    if let acceleration = motion.acceleration {
      parameters.accelerationDensity = acceleration
      parameters.learnsAcceleration = false
    }
    return parameters
  }

  func computation(of table: CSVTable) throws(LabError) -> RowComputation<RangeEstimate> {
    let calibration = try RangingCalibration?.read(known.calibration)
    return try table.filtering(
      sigma: sigma, biasDeviation: biasSigma, parameters(calibration), live: option.live,
      calibration: calibration)
  }
}
