// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWB

/// `uwbctl calibrate angle`.
struct CalibrateAngle: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "angle",
    abstract: "Offset and table of a pair of antennas: which phase comes from which angle.",
    discussion: """
      On two boards, the first with a pair of antennas, a Qorvo chip that reports the phases of single \
      frames: it asks for one angle after another, positive to the left.
        uwbctl calibrate angle --board A=/dev/ttyACM0 --board B=/dev/ttyACM1 --output antennas.json

      From a turntable: a table angle_deg,pdoa_rad, or azimuth_deg,elevation_deg,pdoa_rad; positive \
      to the left, 0 straight ahead; phases may be wrapped. Every column whose name begins with pdoa \
      is a pair (--column: only these).
        uwbctl calibrate angle --from turntable.csv --output antennas.json --plot antennas.svg

      From a walk around the antennas: phases as time_s,pdoa_rad and the way in another file (--way), \
      time_s,x_m,y_m[,z_m] with the antennas at --at and turned by --yaw, or time_s,azimuth_deg[, \
      elevation_deg]. Walk to and fro, so that both clocks can be compared.
        uwbctl calibrate angle --from phases.csv --way way.csv --at 0,0,1.2 --yaw 90 --output \
      antennas.json

      Output: pairs with column, offset_rad, table (angle_deg, phase_rad), noise_rad and residuals, \
      as compute angle --geometry reads them. --write puts offset and table into a Qorvo chip \
      (pdoa.offset, pdoa_lut), the offset into an NXP chip.
      """)

  @Option(help: "A table of phases (CSV) instead of boards; - is standard input.")
  var from: String?
  @Option(
    name: .customLong("angle"), parsing: .unconditionalSingleValue,
    help: "On boards: an angle in degrees, positive to the left; repeat it.")
  var angles: [Double] = []
  @Option(help: "The way around the antennas (CSV).", completion: .file(extensions: ["csv"]))
  var way: String?
  @Option(help: ArgumentHelp("Where the antennas are, in metres.", valueName: "x,y,z"))
  var at = "0,0,0"
  @Option(help: "Where they look: degrees from x towards y.") var yaw = 0.0
  @Option(help: "The clocks of phases and way differ by no more than so many seconds.") var lag =
    1.0
  @Option(name: .customLong("column"), help: "A column with the phases of a pair; repeat it.")
  var columns: [String] = []
  @Option(help: "Degrees between two points of the table, at least.") var spacing = 6.0
  @Option(help: "--from and --write: the chip, a serial path, usb:SERIAL, tcp:host:port or sim.")
  var device = DeviceOptions.simulated
  @Option(help: "--write: the pair of antennas, as the chip numbers it.") var antennaPair: UInt8 = 0
  @OptionGroup(title: "Boards") var boards: BoardOptions
  @OptionGroup(title: "Result") var result: CalibrationResult

  func validate() throws {
    guard spacing > 0, spacing <= 90, 0...3600 ~= lag, yaw.isFinite else {
      throw ValidationError("--spacing takes degrees, 0 to 90, and --lag seconds.")
    }
    guard angles.allSatisfy({ abs($0) <= 90 }) else {
      throw ValidationError("--angle takes degrees, -90 to 90.")
    }
    guard way == nil || from != nil else { throw ValidationError("--way needs --from.") }
    _ = try place
  }

  private var place: Vector3 {
    get throws {
      let parts = at.split(separator: ",").compactMap { Double($0) }
      guard parts.count == 3, parts.allSatisfy(\.isFinite) else {
        throw ValidationError("--at takes X,Y,Z in metres.")
      }
      return Vector3(parts[0], parts[1], parts[2])
    }
  }

  func run() async throws {
    let this = self
    try await calibratingAnew {
      guard let from = this.from else { return try await this.onBoards() }
      let recording = try PhaseRecording(file: from, columns: this.columns)
      let parameters = this.parameters
      var learned: [PhaseReport] = []
      for name in recording.columns {
        if let way = this.way {
          let pose = AntennaPose(place: try this.place, yaw: this.yaw * .pi / 180)
          var walking = PhaseWalk.Parameters()
          (walking.table, walking.greatestLag) = (parameters, this.lag)
          let walk = try PhaseWalk(
            way: try WayTable(file: way, pose).points, phases: try recording.phases(name), walking)
          learned.append(PhaseReport(name, walk.fit, walk.samples, walk))
        } else {
          let samples = try recording.samples(name)
          learned.append(PhaseReport(name, try PhaseTableFit(samples, parameters), samples, nil))
        }
      }
      try this.finish(learned)
      guard this.result.write, let first = learned.first else { return }
      guard learned.count == 1 else {
        throw ValidationError("--write takes one pair: choose it with --column.")
      }
      let chip = this.boards.chip
      let target = try DeviceOptions.parse([
        "--device", this.device, "--sim-chip", chip.simChip.rawValue, "--chip", chip.chip.rawValue,
      ])
      try await target.withDevice(CaptureOptions.parse([])) { device, _ in
        try await this.write(first.fit, to: device)
      }
    }
  }

  private func onBoards() async throws {
    try await BoardBench.with(boards, usual: 2) { bench in
      let stops = angles.isEmpty ? stride(from: -75.0, through: 75, by: 15).map { $0 } : angles
      let name = "\(bench.boards[1].name) as \(bench.boards[0].name) sees it"
      let guide = Guide<[Double]>(
        prompt: result.consent.yes ? nil : Prompt.shared, what: "angle, positive to the left,",
        unit: "°", limits: -90...90)
      let kept = try await guide.run(
        stops.map { .init(name: name, value: $0) },
        measure: { _, angle in
          _ = try await bench.range(0, 1, distance: 3, angle: angle, wantsPhases: true)
          return bench.boards[0].phases.drain()
        },
        spread: { phases, _ in PhaseReport.summary(phases) })
      let samples = kept.flatMap { _, angle, phases in
        phases.map { PhaseSample(angle: angle * .pi / 180, phase: $0) }
      }
      guard !samples.isEmpty else {
        standardError.write(
          "uwbctl: No phase was reported.\n  try: a board with a pair of antennas whose chip reports "
            + "range diagnostics (Qorvo), or --from.\n")
        throw ExitCode(ExitStatus.noPeer.rawValue)
      }
      let fit = try PhaseTableFit(samples, parameters)
      try finish([PhaseReport("pdoa_rad", fit, samples, nil)])
      if result.write { try await write(fit, to: bench.boards[0].device) }
    }
  }

  private var parameters: PhaseTableFit.Parameters {
    var parameters = PhaseTableFit.Parameters()
    parameters.spacing = spacing * .pi / 180
    return parameters
  }

  private func finish(_ learned: [PhaseReport]) throws {
    var calibration = RangingCalibration()
    calibration.pairs = learned.map { .init(column: $0.name, $0.fit) }
    for report in learned { standardOutput.write(report.text) }
    try result.save(calibration, learned.flatMap(\.charts))
  }

  private func write(_ fit: PhaseTableFit, to device: UWBDevice) async throws {
    let (entries, missing) = try await device.phaseCalibration(
      channel: boards.channel, pair: antennaPair, offset: fit.offset,
      table: zip(fit.table.angles, fit.table.phases).map { ($0, $1) })
    let change = try await CalibrationChange(device, entries, .text)
    try await change.carryOut(result.consent, warning: missing, isWhole: true)
  }
}
