// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWB
import UWBLab

struct CalibrateDelay: CalibrationCommand {
  static let configuration = CommandConfiguration(
    commandName: "delay",
    abstract: "Determine antenna delays from pairs of boards at known distances.",
    discussion: """
      Every pair of boards ranges at a known distance, 2 m or more, in the open, as far from walls \
      and floor as from each other. Three boards give the delay of each; two only the sum of both, \
      unless one is known (--known). With five boards a wrong placement is detected.
        uwbctl calibrate delay --board A=/dev/ttyACM0 --board B=/dev/ttyACM1 \
      --board C=/dev/ttyACM2 --output delays.json

      --from reads a table: board_a,board_b,truth_m,range_m [, channel, antenna_a, antenna_b]; 9, 0 \
      and 0 where these are missing. --positions takes the distances from the positions in a file \
      like that of compute locate: {"anchors": {"A": [0, 0, 1], "B": [3, 0, 1]}}.

      Output: antenna_delays with board, channel, antenna, delay_m and sigma_m, and residuals. \
      --write adds the delay to that of each chip (ant_delay, RX_ANT_DELAY).
      """)

  @Option(help: "Read measurements from this table (CSV) instead of boards; - is standard input.")
  var from: String?
  @Option(
    name: .customLong("pair"),
    help: ArgumentHelp(
      "The distance of two boards in metres, A,B=2.5; repeatable.", valueName: "a,b=metres"))
  var pairs: [String] = []
  @Option(help: "Positions of the boards (JSON).", completion: .file(extensions: ["json"]))
  var positions: String?
  @Option(
    help: ArgumentHelp("A board whose delay is known, A=0.15 in metres.", valueName: "name=metres"))
  var known: [String] = []
  @Option(help: "Accuracy of positions in metres, reflections included, one standard deviation.")
  var placement = 0.02
  @Option(help: "With --write: only these antennas, as the chip numbers them.") var antenna:
    [UInt8] = []
  @OptionGroup(title: "Boards") var boards: BoardOptions
  @OptionGroup(title: "Result") var result: CalibrationResult

  func validate() throws {
    guard placement > 0, placement < 10 else {
      throw ValidationError("--placement takes metres, more than 0.")
    }
    _ = try given
    _ = try knownDelays
  }

  func calibrate(from table: CSVTable) async throws {
    let fit = try calibration.fit(try table.delayMeasurements().reported)
    try result.save(fit.report)
    if result.write {
      try await boards.withBench(usual: 3, least: 1) { bench, _ in try await write(fit, bench) }
    }
  }

  func calibrateBoards() async throws {
    try await boards.withBench(usual: 3) { bench, console in
      let calibration = try calibration
      let measurements = try await calibration.measurements(
        on: bench, distances: try distances(bench.boards.map(\.name)),
        channel: Int(boards.channel), console, isInteractive: !result.consent.yes)
      guard !measurements.isEmpty else { throw Failure(.noPeer, "Nothing was measured.") }
      let fit = try calibration.fit(measurements)
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
        standardError.write(
          "uwbctl: The delay of \(printable(board.name)) is unknown: not written.\n")
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
          result.consent,
          warning: isRough ? "The delay of \(board.name) is uncertain by more than 5 cm." : nil,
          isAtomic: true)
      } catch is CancellationError {
        let done =
          written.isEmpty ? "Nothing was written" : "Written: " + written.joined(separator: ", ")
        standardError.write("\n")
        throw Failure(.unfinished, done + ".")
      }
      written.append(board.name)
    }
  }

  // MARK: options

  /// The known distance of each two names, in both orders.
  private func distances(_ names: [String]) throws -> [[String]: Double] {
    var result: [[String]: Double] = [:]
    if let positions {
      let anchors = try Anchors(file: positions).byName
      for a in names {
        for b in names where a != b {
          guard let here = anchors[a]?.position, let there = anchors[b]?.position else { continue }
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
        let (name, metres) = try Self.assignment(text, "--pair takes A,B=METRES")
        let ends = name.split(separator: ",").map(String.init)
        guard ends.count == 2, ends[0] != ends[1], metres > 0 else {
          throw ValidationError("--pair takes A,B=METRES, not \(printable(text)).")
        }
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
