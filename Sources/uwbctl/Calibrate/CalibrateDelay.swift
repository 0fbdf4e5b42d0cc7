// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWB

/// `uwbctl calibrate delay`.
struct CalibrateDelay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delay",
    abstract: "Antenna delays from pairs of boards at known distances.",
    discussion: """
      Every pair of boards ranges at a distance that is known, 2 m or more, in the open, as far from \
      walls and floor as from each other. Three boards tell the delay of each; two only the sum of \
      both, unless one is known (--known). With five boards a wrong placement is found.
        uwbctl calibrate delay --board A=/dev/ttyACM0 --board B=/dev/ttyACM1 \
      --board C=/dev/ttyACM2 --output delays.json

      --from reads a table: board_a,board_b,truth_m,range_m [, channel, antenna_a, antenna_b]; 9, 0 \
      and 0 where these are missing. The distances of --positions are those between the places in a \
      file as compute locate reads it: {"anchors": {"A": [0, 0, 1], "B": [3, 0, 1]}}.

      Output: antenna_delays with board, channel, antenna, delay_m and sigma_m, and residuals. \
      --write adds the delay to what each chip has (ant_delay, RX_ANT_DELAY).
      """)

  @Option(help: "A table of measurements (CSV) instead of boards; - is standard input.")
  var from: String?
  @Option(
    name: .customLong("pair"),
    help: ArgumentHelp(
      "The distance of two boards in metres, A,B=2.5; repeat it.", valueName: "a,b=metres"))
  var pairs: [String] = []
  @Option(help: "Where the boards are (JSON).", completion: .file(extensions: ["json"]))
  var positions: String?
  @Option(
    help: ArgumentHelp("A board whose delay is known, A=0.15 in metres.", valueName: "name=metres"))
  var known: [String] = []
  @Option(help: "How exact places are in metres, reflections included, one standard deviation.")
  var placement = 0.02
  @Option(help: "--write: only these antennas, as the chip numbers them.") var antenna: [UInt8] = []
  @OptionGroup(title: "Boards") var boards: BoardOptions
  @OptionGroup(title: "Result") var result: CalibrationResult

  func validate() throws {
    guard placement > 0, placement < 10 else {
      throw ValidationError("--placement takes metres, more than 0.")
    }
    _ = try given
    _ = try knownDelays
  }

  func run() async throws {
    let this = self
    try await calibratingAnew {
      guard let from = this.from else { return try await this.onBoards() }
      let fit = try this.fitted(DelayTable(file: from).measurements)
      try this.finish(fit)
      if this.result.write {
        try await BoardBench.with(this.boards, usual: 3, least: 1) { try await this.write(fit, $0) }
      }
    }
  }

  private func onBoards() async throws {
    try await BoardBench.with(boards, usual: 3) { bench in
      let names = bench.boards.map(\.name)
      let ends = names.indices.flatMap { a in (a + 1..<names.count).map { (a, $0) } }
      let distances = try distances(names)
      let guide = Guide<[BoardBench.Reading]>(
        prompt: result.consent.yes ? nil : Prompt.shared, what: "distance from antenna to antenna",
        unit: "m", limits: 0.05...1000)
      let kept = try await guide.run(
        ends.map { a, b in
          .init(name: "\(names[a]) – \(names[b])", value: distances[[names[a], names[b]]])
        },
        measure: { try await bench.range(ends[$0].0, ends[$0].1, distance: $1) },
        spread: { $0.summary(truth: $1) })
      let channel = Int(boards.channel)
      let measurements = kept.flatMap { stop, truth, readings in
        readings.compactMap(\.range).map { range in
          DelayMeasurement(
            BoardAntenna(names[ends[stop].0], channel: channel),
            BoardAntenna(names[ends[stop].1], channel: channel), measured: range, truth: truth)
        }
      }
      guard !measurements.isEmpty else {
        standardError.write("uwbctl: Nothing was measured.\n")
        throw ExitCode(ExitStatus.noPeer.rawValue)
      }
      let fit = try fitted(measurements)
      try finish(fit)
      if result.write { try await write(fit, bench) }
    }
  }

  private func fitted(_ measurements: [DelayMeasurement]) throws -> AntennaDelayFit {
    var parameters = AntennaDelayFit.Parameters()
    parameters.placementDeviation = placement
    for antenna in Set(measurements.flatMap { [$0.a, $0.b] }) {
      parameters.known[antenna] = try knownDelays[antenna.board]
    }
    return try AntennaDelayFit(measurements, parameters)
  }

  private func finish(_ fit: AntennaDelayFit) throws {
    standardOutput.write(DelayReport(fit).text)
    var calibration = RangingCalibration()
    calibration.antenna_delays = fit.delays.keys.sorted().map { .init($0, fit.delays[$0]!) }
    calibration.residuals = .init(fit.residuals)
    if fit.delays.isEmpty, let sum = fit.sums.first, fit.sums.count == 1 {
      // All that two boards tell.
      calibration.antenna_delays = nil
      calibration.delay_m = sum.delay.metres
    }
    try result.save(calibration, [DelayReport(fit).chart])
  }

  private func write(_ fit: AntennaDelayFit, _ bench: BoardBench) async throws {
    var written: [String] = []
    for board in bench.boards {
      let mine = fit.delays.filter { $0.key.board == board.name }
      guard !mine.isEmpty else {
        standardError.write(
          "uwbctl: The delay of \(printable(board.name)) is not known: not written.\n")
        continue
      }
      var entries: [CalibrationEntry] = []
      for (port, delay) in mine.sorted(by: { $0.key < $1.key }) {
        entries += try await board.device.antennaDelays(
          channel: UInt8(clamping: port.port.channel), shorteningBy: delay.metres, antennas: antenna
        )
      }
      let isRough = mine.values.contains { $0.standardDeviation > 0.05 }
      let change = try await CalibrationChange(board.device, entries, .text)
      do {
        try await change.carryOut(
          result.consent,
          warning: isRough ? "The delay of \(board.name) is known to more than 5 cm only." : nil,
          isWhole: true)
      } catch is CancellationError {
        let done =
          written.isEmpty ? "Nothing was written" : "Written: " + written.joined(separator: ", ")
        standardError.write("\nuwbctl: \(printable(done)).\n")
        throw ExitCode(ExitStatus.unfinished.rawValue)
      }
      written.append(board.name)
    }
  }

  // MARK: what was given

  /// The known distance of each two names, in both orders.
  private func distances(_ names: [String]) throws -> [[String]: Double] {
    var result: [[String]: Double] = [:]
    if let positions {
      let places = try AnchorFile(file: positions).anchors
      for a in names {
        for b in names where a != b {
          guard let here = places[a]?.place, let there = places[b]?.place else { continue }
          result[[a, b]] = (there - here).length
        }
      }
    }
    for (ends, metres) in try given {
      for name in ends where !names.contains(name) {
        throw ValidationError("--pair: there is no board \(printable(name)).")
      }
      result[ends] = metres
      result[ends.reversed()] = metres
    }
    return result
  }

  private var given: [(ends: [String], metres: Double)] {
    get throws {
      try pairs.map { text in
        let parts = text.split(separator: "=").map(String.init)
        let ends = parts.first?.split(separator: ",").map(String.init) ?? []
        guard parts.count == 2, ends.count == 2, ends[0] != ends[1],
          let metres = Guide<Int>.number(parts[1], "m"), metres > 0
        else { throw ValidationError("--pair takes A,B=METRES, not \(printable(text)).") }
        return (ends, metres)
      }
    }
  }

  private var knownDelays: [String: Double] {
    get throws {
      try Dictionary(
        known.map { text in
          let parts = text.split(separator: "=").map(String.init)
          guard parts.count == 2, let metres = Guide<Int>.number(parts[1], "m") else {
            throw ValidationError("--known takes NAME=METRES, not \(printable(text)).")
          }
          return (parts[0], metres)
        }, uniquingKeysWith: { $1 })
    }
  }
}
