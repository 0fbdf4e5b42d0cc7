// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Estimators
import Formats
import Glibc
import Ranging
import UCI
import UWB
import UWBLab
import UWBLink
import UWBSimulator

struct Calibrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure the errors of boards in distances and angles.",
    discussion: """
      delay, angle and power measure with boards, step by step. The command prints each placement, \
      measures, and shows the scatter of the values. It then asks whether to keep them, to measure \
      again (r) or to skip this placement (s); q or Ctrl-C quits without writing anything. --yes \
      measures without questions, and --from FILE computes from a recorded table instead. The \
      result is written to a file (--output), which compute and uwbctl range read with \
      --calibration, or to the chips (--write) after a question. path learns from a recorded table.

      uwbctl calibrate reads and writes the values stored in a chip. Make a backup before --write:
        uwbctl calibrate backup board7.json --device /dev/ttyACM0
      """,
    subcommands: [
      CalibrateDelay.self, CalibrateAngle.self, CalibratePower.self, CalibratePath.self,
    ])
}

/// The common options of calibrations, and the file for the result.
struct CalibrationResult: ParsableArguments {
  @Option(
    help: "Write the result to this file (JSON), which keeps its other boards and pairs.",
    completion: .file(extensions: ["json"]))
  var output: String?
  @Flag(help: "Write the result to the chips.") var write = false
  @Option(help: Plot.help, completion: Plot.completion) var plot: String?

  func validate() throws {
    try Plot.check(plot)
    try require(
      output != "-" || plot != "-", "Give a file for --output or --plot instead of -.")
    try require(
      output == nil || !write,
      "Give either --output or --write: a chip that corrects its distances must not be corrected "
        + "again.")
  }

  /// Checks the files, so that no measurement is lost because of them.
  func check() throws(LabError) {
    if let output { try RangingCalibration.check(output: output) }
    if let plot { try Figure.check(output: plot) }
  }

  /// Prints the report, and writes its calibration into the file.
  func save(_ report: CalibrationReport) throws(LabError) {
    takeOutput(for: output)
    takeOutput(for: plot)
    standardOutput.write(lines: report.text)
    try Plot.write(report.charts, to: plot)
    if let problem = report.problem { throw problem }
    if let output {
      try report.calibration.merge(intoFile: output)
      if output != "-" { standardError.write(lines: "Written to \(printable(output)).\n") }
    } else if !write {
      standardError.write(lines: "Nothing was written: use --output FILE or --write.\n")
    }
  }
}

/// A calibration with boards, or with a table of measurements.
protocol CalibrationCommand: ResultCommand {
  var result: CalibrationResult { get }
  var from: String? { get }
  var input: TableOptions { get }
  /// Calibrates with a table of measurements.
  func calibrate(from table: CSVTable) async throws
  func calibrateBoards() async throws
}

extension CalibrationCommand {
  func execute() async throws {
    try result.check()
    if let from {
      try await calibrate(from: try await input.reading(from))
    } else {
      try await calibrateBoards()
    }
  }
}

extension LabRows {
  /// The values, with warnings printed.
  var reported: [Value] {
    warn(warnings)
    return values
  }
}

/// The boards, and the options of ranging.
struct BoardOptions: ParsableArguments {
  @Option(
    name: .customLong("board"),
    help: ArgumentHelp(
      "A board, NAME=DEVICE (A=/dev/ttyACM0, B=usb:SERIAL); repeatable (default: simulated boards).",
      valueName: "name=device"))
  var boards: [String] = []
  @Option(help: "Number of simulated boards, without --board.") var simulated: Int?
  @Option(help: "The UWB channel: 5 or 9 on most chips.") var channel: UInt8 = 9
  @Option(name: [.customShort("n"), .long], help: "Measurements at each placement.")
  var rounds = 100
  @Option(help: "Time between measurements in milliseconds.") var interval: UInt32 = 50

  func validate() throws {
    try require(1...100_000 ~= rounds, "--rounds takes 1 to 100000.")
    try require(boards.isEmpty || simulated == nil, "Give either --board or --simulated.")
    if let simulated, !(2...8).contains(simulated) {
      throw ValidationError("--simulated takes 2 to 8.")
    }
    let named = try named
    guard Set(named.map(\.name)).count == named.count,
      Set(named.map { "\($0.endpoint)" }).count == named.count
    else { throw ValidationError("Each board needs a name and a device of its own.") }
  }

  var named: [(name: String, endpoint: LinkEndpoint)] {
    get throws {
      try boards.map { text in
        guard let mark = text.firstIndex(of: "="), mark != text.startIndex else {
          throw ValidationError("--board takes NAME=DEVICE, not \(printable(text)).")
        }
        do throws(LinkError) {
          return (String(text[..<mark]), try LinkEndpoint(String(text[text.index(after: mark)...])))
        } catch { throw ValidationError("\(error) \(error.recoverySuggestion ?? "")") }
      }
    }
  }

  /// Opens the boards, lends them to `body`, and closes them again.
  ///
  /// - Parameters:
  ///   - usual: the number of simulated boards, unless it was given.
  ///   - least: the number of boards that the calibration needs.
  ///   - hasBias: whether the level shifts the distances of simulated boards.
  func withBench<R: Sendable>(
    _ chip: ChipOptions, usual: Int, least: Int = 2, hasBias: Bool = false,
    _ body: (BoardBench, TerminalConsole) async throws -> R
  ) async throws -> R {
    let (channel, interval) = (channel, interval)
    var options = BoardBench.Options { id in
      var controller = SessionConfiguration(
        role: .controller, sessionID: id, address: MACAddress(0), peers: [MACAddress(1)])
      (controller.channel, controller.interval) = (channel, interval)
      (controller.slotsPerRound, controller.slotDuration) = SessionConfiguration.schedule(
        interval: interval, controlees: 1)
      try controller.validate()
      return (controller, controller.mirrored[0])
    }
    options.rounds = rounds
    var places = try named
    var simulation: SimulatedBench?
    if places.isEmpty {
      let bench = try simulatedBoards(chip, simulated ?? usual, hasBias: hasBias)
      let chips = bench.chips
      places = chips.map { ($0.name, SimulatedPeers.endpoint($0)) }
      simulation = bench
      options.place = { a, b, distance, angle in
        let radians = angle * .pi / 180
        chips[a].placement.motion = .still(SIMD3(0, 0, 1))
        chips[a].placement.yaw = 0
        chips[b].placement.motion = .still(
          SIMD3<Double>(distance * cos(radians), distance * sin(radians), 1))
      }
    }
    defer { simulation?.stop() }
    try require(
      places.count >= least, "At least \(least) boards are needed: --board NAME=DEVICE for each.")
    let console = TerminalConsole()
    return try await BoardBench.withBoards(places, chip.driverOptions, options, console) {
      try await body($0, console)
    }
  }

  /// Returns boards whose delays are not calibrated, as from a factory.
  private func simulatedBoards(
    _ chip: ChipOptions, _ count: Int, hasBias: Bool
  ) throws -> SimulatedBench {
    var scene = Scene(seed: chip.seed)
    if hasBias {
      scene.radio.powerBias = Curve([(-95, -0.03), (-65, 0.04)])
    }
    let conditions = try chip.conditions
    conditions?.apply(to: &scene)
    let bench = SimulatedBench(scene: scene)
    let delays = (0..<count).map { 0.12 + 0.017 * Double($0 * 3 % 5) }
    let names = delays.indices.map { String(UnicodeScalar(UInt8(65 + $0))) }
    for (index, (name, delay)) in zip(names, delays).enumerated() {
      var placement = Placement(at: SIMD3(50 + 10 * Double(index), 50, 1), yaw: 180)
      placement.antennaDelayError = delay
      _ = try bench.add(profile: chip.model.profile, placement: placement, name: name)
    }
    conditions?.apply(to: bench.chips)
    bench.start()
    let truth = bench.chips.map { "\($0.name) \(fixed($0.placement.antennaDelayError, 3)) m" }
      .joined(separator: ", ")
    standardError.write(
      lines: "The boards are simulated, and move by themselves. Their true delays: \(truth).\n")
    return bench
  }
}

struct CalibrateDelay: CalibrationCommand {
  static let configuration = CommandConfiguration(
    commandName: "delay",
    abstract: "Determine antenna delays from pairs of boards at known distances.",
    discussion: """
      Every pair of boards ranges at a known distance, 2 m or more, in the open, as far from walls \
      and floor as from each other. Three distances of each pair average the reflections: \
      --pair A,B=2 --pair A,B=3 --pair A,B=4. Three boards give the delay of each; two only the \
      sum of both, unless one is known (--known). With five boards a wrong placement is detected.
        uwblab calibrate delay --output delays.json \\
          --board A=/dev/ttyACM0 --board B=/dev/ttyACM1 --board C=/dev/ttyACM2

      --from reads a table: board_a,board_b,truth_m,range_m [, channel, antenna_a, antenna_b]. \
      Where the last three are missing, they are 9, 0 and 0. --positions takes the distances from \
      the positions in a file like the anchors of compute locate: \
      {"anchors": {"A": [0, 0, 1], "B": [3, 0, 1]}}.

      Output: antenna_delays with board, channel, antenna, delay_m and sigma_m, pair_delays with \
      the sums of boards without a triangle, and residuals. --write adds the delay to the value in \
      each chip (ant_delay, RX_ANT_DELAY). 2000 boards are always possible, and up to 20000 where \
      each was measured with a few others. --known takes delays from an earlier part.
      """)

  @Option(help: "Read measurements from this table (CSV) instead of boards; - is standard input.")
  var from: String?
  @OptionGroup var input: TableOptions
  @Option(
    name: .customLong("pair"),
    help: ArgumentHelp(
      "The distance of two boards in metres: A,B=2.5; repeatable, also for further placements.",
      valueName: "a,b=metres"))
  var pairs: [String] = []
  @Option(help: "Positions of the boards (JSON).", completion: .file(extensions: ["json"]))
  var positions: String?
  @Option(
    help: ArgumentHelp("A board whose delay is known, in metres: A=0.15.", valueName: "name=metres")
  )
  var known: [String] = []
  @Option(help: "Accuracy of positions in metres, reflections included, one standard deviation.")
  var placement = 0.02
  @Option(help: "With --write: only these antennas, as the chip numbers them.") var antenna:
    [UInt8] = []
  @OptionGroup(title: "Boards") var boards: BoardOptions
  @OptionGroup(title: "Boards") var chip: ChipOptions
  @OptionGroup(title: "Result") var result: CalibrationResult
  @OptionGroup(title: "Result") var consent: Consent

  func validate() throws {
    try require(placement > 0 && placement < 10, "--placement takes metres, more than 0.")
    _ = try given
    _ = try knownDelays
  }

  func calibrate(from table: CSVTable) async throws {
    let calibration = try calibration
    let (fit, report) = try await computing(table.work) {
      let fit = try calibration.fit(try table.delayMeasurements().reported)
      return (fit, fit.report)
    }
    warn(fit.warnings)
    try result.save(report)
    if result.write {
      try await boards.withBench(chip, usual: 3, least: 1) { bench, _ in try await write(fit, bench)
      }
    }
  }

  func calibrateBoards() async throws {
    try await boards.withBench(chip, usual: 3) { bench, console in
      let calibration = try calibration
      let measurements = try await calibration.measurements(
        on: bench, distances: try distances(bench.boards.map(\.name)),
        channel: Int(boards.channel), console, isInteractive: !consent.yes)
      guard !measurements.isEmpty else { throw Failure(.noPeer, "Nothing was measured.") }
      let fit = try calibration.fit(measurements)
      warn(fit.warnings)
      try result.save(fit.report)
      if result.write { try await write(fit, bench) }
    }
  }

  private var calibration: DelayCalibration {
    get throws {
      var calibration = DelayCalibration()
      calibration.placementDeviation = placement
      calibration.known = try knownDelays
      return calibration
    }
  }

  private func write(_ fit: AntennaDelayFit, _ bench: BoardBench) async throws {
    var written: [String] = []
    for board in bench.boards {
      let delays = fit.delays.filter { $0.key.board == board.name }
      guard !delays.isEmpty else {
        note("The delay of \(board.name) is unknown: it is not written.")
        continue
      }
      var entries: [CalibrationEntry] = []
      for (port, delay) in delays.sorted(by: { $0.key < $1.key }) {
        entries += try await board.device.antennaDelays(
          channel: UInt8(clamping: port.port.channel), shorteningBy: delay.metres, antennas: antenna
        )
      }
      let isRough = delays.values.contains { $0.standardDeviation > 0.05 }
      do {
        try await CalibrationChange(board.device, entries).confirmAndWrite(
          consent,
          warning: isRough ? "The delay of \(board.name) is uncertain by more than 5 cm." : nil)
      } catch is CancellationError where !written.isEmpty {
        throw Failure(.unfinished, "Written: \(written.joined(separator: ", ")).")
      }
      written.append(board.name)
    }
    if written.isEmpty {
      throw Failure(
        .data, "No delay of a single board is known, only a sum. Nothing was written.",
        try: "Measure three boards in a triangle, or give the delay of one: --known NAME=METRES.")
    }
  }

  // MARK: options

  /// Returns the known distances of each two names, in both orders.
  private func distances(_ names: [String]) throws -> [[String]: [Double]] {
    var result: [[String]: [Double]] = [:]
    if let positions {
      let anchors = try Anchors(file: positions).byName
      for a in names {
        for b in names where a != b {
          guard let here = anchors[a]?.position, let there = anchors[b]?.position else { continue }
          result[[a, b]] = [(there - here).length]
        }
      }
    }
    for (ends, placements) in Dictionary(grouping: try given, by: { $0.ends.sorted() }) {
      for name in ends where !names.contains(name) {
        throw ValidationError("--pair: there is no board \(printable(name)).")
      }
      result[ends] = placements.map(\.metres)
      result[ends.reversed()] = placements.map(\.metres)
    }
    return result
  }

  private var given: [(ends: [String], metres: Double)] {
    get throws {
      try pairs.map { text in
        let (name, metres) = try Self.assignment(text, "--pair takes A,B=METRES")
        let ends = name.split(separator: ",").map(String.init)
        try require(
          ends.count == 2 && ends[0] != ends[1] && metres > 0,
          "--pair takes A,B=METRES, not \(printable(text)).")
        return (ends, metres)
      }
    }
  }

  private var knownDelays: [String: Double] {
    get throws {
      try Dictionary(
        known.map { try Self.assignment($0, "--known takes NAME=METRES") },
        uniquingKeysWith: { $1 })
    }
  }

  private static func assignment(
    _ text: String, _ usage: String
  ) throws -> (name: String, metres: Double) {
    let parts = text.split(separator: "=").map(String.init)
    guard parts.count == 2, let metres = quantityValue(parts[1], "m") else {
      throw ValidationError("\(usage), not \(printable(text)).")
    }
    return (parts[0], metres)
  }
}
