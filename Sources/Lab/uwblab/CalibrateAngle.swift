// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Estimators
import Formats
import Ranging
import UWB
import UWBLab

struct CalibrateAngle: CalibrationCommand {
  static let configuration = CommandConfiguration(
    commandName: "angle",
    abstract:
      "Determine the phase of each direction, for pairs and arrays of antennas.",
    discussion: """
      With two boards, the first with a pair of antennas and a Qorvo chip that reports the phases \
      of single frames: the command asks for one angle after another, positive to the left.
        uwblab calibrate angle --output antennas.json \\
          --board A=/dev/ttyACM0 --board B=/dev/ttyACM1

      From a turntable: a table with angle_deg,pdoa_rad or azimuth_deg,elevation_deg,pdoa_rad. \
      Angles are positive to the left and 0 straight ahead; phases may be wrapped. Every column \
      whose name begins with pdoa is a pair, unless --column names them.
        uwblab calibrate angle --from turntable.csv --output antennas.json \\
          --plot antennas.svg

      From a walk around the antennas: the phases as time_s,pdoa_rad, and the path in another file \
      (--path) as time_s,x_m,y_m[,z_m], with the position of the antennas as --at and their \
      direction as --yaw, or as time_s,azimuth_deg[,elevation_deg]. Walk back and forth: this \
      determines the difference of the two clocks.
        uwblab calibrate angle --from phases.csv --output antennas.json \\
          --path path.csv --at 0,0,1.2 --yaw 90

      All round, for rings of antennas and other arrays: the same columns, with azimuth_deg from \
      -180 to 180. The fit gives each pair a baseline in any direction, and a series in multiples \
      of the azimuth for the coupling of the antennas. The number of terms is determined by \
      cross-validation over stretches of the recording, in the order of time_s or of the rows.

      Output: pairs with column, offset_rad, table (angle_deg, phase_rad) or axis, \
      spacing_wavelengths and harmonics, noise_rad (noise of one phase), model_rad (the error that \
      stays the same in the same direction) and residuals, as read by compute angle --geometry. \
      --write writes offset and table to a Qorvo chip (pdoa.offset, pdoa_lut), the offset to an \
      NXP chip.
      """)

  @Option(help: "Read phases from this table (CSV) instead of boards; - is standard input.")
  var from: String?
  @OptionGroup var input: TableOptions
  @Option(
    name: .customLong("angle"), parsing: .unconditionalSingleValue,
    help: "With boards: an angle in degrees, positive to the left; repeatable.")
  var angles: [Double] = []
  @Option(
    name: [.long, .customLong("way")], help: "The path around the antennas (CSV).",
    completion: .file(extensions: ["csv"]))
  var path: String?
  @Option(help: ArgumentHelp("Position of the antennas in metres.", valueName: "x,y,z"))
  var at = "0,0,0"
  @Option(help: "Orientation of the antennas: degrees from x towards y.") var yaw = 0.0
  @Option(help: "Largest difference of the clocks of phases and path in seconds.") var lag =
    1.0
  @Option(name: .customLong("column"), help: "A column with the phases of a pair; repeatable.")
  var columns: [String] = []
  @Option(help: "Minimum distance between two points of the table, in degrees.") var spacing = 6.0
  @Option(help: "With --from and --write: the chip, as for range --device.")
  var device = DeviceOptions.simulated
  @Option(help: "With --write: the pair of antennas, as the chip numbers it.") var antennaPair:
    UInt8 = 0
  @OptionGroup(title: "Boards") var boards: BoardOptions
  @OptionGroup(title: "Boards") var chip: ChipOptions
  @OptionGroup(title: "Result") var result: CalibrationResult
  @OptionGroup(title: "Result") var consent: Consent

  func validate() throws {
    try require(
      spacing > 0 && spacing <= 90 && 0...3600 ~= lag && yaw.isFinite,
      "--spacing takes degrees, 0 to 90, and --lag seconds.")
    guard angles.allSatisfy({ abs($0) <= 90 }) else {
      throw ValidationError("--angle takes degrees, -90 to 90.")
    }
    try require(path == nil || from != nil, "--path needs --from.")
    _ = try position
  }

  private var position: SIMD3<Double> {
    get throws {
      let parts = at.split(separator: ",").compactMap { Double($0) }
      try require(parts.count == 3 && parts.allSatisfy(\.isFinite), "--at takes X,Y,Z in metres.")
      return SIMD3<Double>(parts[0], parts[1], parts[2])
    }
  }

  func calibrate(from table: CSVTable) async throws {
    let (report, fits) = try await computing(table.work) { try fit(table) }
    try result.save(report)
    guard result.write, let first = fits.first else { return }
    try require(fits.count == 1, "--write takes one pair: choose it with --column.")
    let target = try DeviceOptions.naming(device, chip)
    try await target.withDevice { device, _ in try await write(first, to: device) }
  }

  /// Fits an array, or pairs of antennas, to a table.
  ///
  /// - Returns: the report, and the fits of the pairs.
  private func fit(_ table: CSVTable) throws -> (CalibrationReport, [PhaseTableFit]) {
    let path = try path.map { file in
      try CSVTable(file: file).path(around: try position, yaw: yaw * .pi / 180).reported
    }
    let names = try table.phaseColumns(columns)
    if path == nil, let found = try table.arraySamples(names),
      ArrayCalibration.isNeeded(for: found.values)
    {
      try require(!result.write, "Chips have tables of single pairs only: use --output.")
      return (try calibration.fit(names, array: found.reported).report, [])
    }
    let pairs = try names.map { name in
      guard let path else {
        return try calibration.fit(name, try table.phaseSamples(name).reported)
      }
      return try calibration.fit(name, path: path, phases: try table.phases(name).reported)
    }
    return (PairCalibration.report(pairs), pairs.map(\.fit))
  }

  func calibrateBoards() async throws {
    try await boards.withBench(chip, usual: 2) { bench, console in
      let samples = try await calibration.samples(
        on: bench,
        angles: angles.isEmpty ? stride(from: -75, through: 75, by: 15).map { $0 } : angles,
        console, isInteractive: !consent.yes)
      guard !samples.isEmpty else {
        throw Failure(
          .noPeer, "The chip reported no phases.",
          try:
            "Use a board with a pair of antennas whose chip reports range diagnostics (Qorvo), or "
            + "--from.")
      }
      let pair = try calibration.fit("pdoa_rad", samples)
      try result.save(PairCalibration.report([pair]))
      if result.write { try await write(pair.fit, to: bench.boards[0].device) }
    }
  }

  private var calibration: AngleCalibration {
    var calibration = AngleCalibration()
    calibration.parameters.spacing = spacing * .pi / 180
    calibration.greatestLag = lag
    return calibration
  }

  private func write(_ fit: PhaseTableFit, to device: UWBDevice) async throws {
    let (entries, missing) = try await device.phaseCalibration(
      channel: boards.channel, pair: antennaPair, offset: fit.offset,
      table: zip(fit.table.angles, fit.table.phases).map { ($0, $1) })
    try await CalibrationChange(device, entries).confirmAndWrite(
      consent, warning: missing)
  }
}

struct CalibratePower: CalibrationCommand {
  static let configuration = CommandConfiguration(
    commandName: "power",
    abstract: "Determine how the received level shifts distances.",
    discussion: """
      Two boards range at many known distances, so that levels range from strong to weak: 0.5 to \
      30 m in the open are about 35 dB.
        uwblab calibrate power --board A=/dev/ttyACM0 --board B=/dev/ttyACM1 \\
          --distance 1 --distance 2 --distance 4 --output board.json

      --from reads a table: truth_m,range_m,rx_power_dbm [, peer, time_s]. Levels of one peer are \
      smoothed over time.

      Output: delay_m (or delays_m by peer) at the mean level, power_bias with rx_power_dbm and \
      bias_m, and residuals, as written by compute ss-twr --learn. It cannot be written to chips, \
      which have no such table.
      """)

  @Option(help: "Read measurements from this table (CSV) instead of boards; - is standard input.")
  var from: String?
  @OptionGroup var input: TableOptions
  @Option(name: .customLong("distance"), help: "A distance in metres; repeatable.")
  var distances: [Double] = []
  @OptionGroup(title: "Boards") var boards: BoardOptions
  @OptionGroup(title: "Boards") var chip: ChipOptions
  @OptionGroup(title: "Result") var result: CalibrationResult
  @OptionGroup(title: "Result") var consent: Consent

  func validate() throws {
    try require(!result.write, "Chips have no such table: use --output.")
    guard distances.allSatisfy({ 0.05...1000 ~= $0 }) else {
      throw ValidationError("--distance takes metres, 0.05 to 1000.")
    }
  }

  func calibrate(from table: CSVTable) async throws {
    try result.save(
      try await computing(table.work) { try PowerCalibration(table) { warn([$0]) }.report() })
  }

  func calibrateBoards() async throws {
    let calibration = try await boards.withBench(chip, usual: 2, hasBias: true) { bench, console in
      try await PowerCalibration(
        on: bench, distances: distances.isEmpty ? [1, 1.5, 2, 3, 4, 6, 8, 12] : distances, console,
        isInteractive: !consent.yes)
    }
    try result.save(try calibration.report())
  }
}
