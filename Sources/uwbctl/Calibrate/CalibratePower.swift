// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging

/// `uwbctl calibrate power`.
struct CalibratePower: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "power",
    abstract: "By how much the received level shifts distances.",
    discussion: """
      Two boards range at many distances that are known, so that levels come from strong to weak: \
      0.5 to 30 m in the open are some 35 dB.
        uwbctl calibrate power --board A=/dev/ttyACM0 --board B=/dev/ttyACM1 --distance 1 \
      --distance 2 --distance 4 --output board.json

      --from reads a table: truth_m,range_m,rx_power_dbm [, peer, time_s]. Levels of one peer are \
      smoothed over time.

      Output: delay_m (or delays_m by peer) at the mean level, power_bias with rx_power_dbm and \
      bias_m, and residuals, as compute ss-twr --learn writes them. Chips have no such table: it \
      cannot be written to one.
      """)

  @Option(help: "A table of measurements (CSV) instead of boards; - is standard input.")
  var from: String?
  @Option(name: .customLong("distance"), help: "A distance in metres; repeat it.")
  var distances: [Double] = []
  @OptionGroup(title: "Boards") var boards: BoardOptions
  @OptionGroup(title: "Result") var result: CalibrationResult

  func validate() throws {
    guard !result.write else {
      throw ValidationError("Chips have no table of the level: give --output.")
    }
    guard distances.allSatisfy({ 0.05...1000 ~= $0 }) else {
      throw ValidationError("--distance takes metres, 0.05 to 1000.")
    }
  }

  func run() async throws {
    let this = self
    try await calibratingAnew {
      if let from = this.from { return try this.finish(PowerTable(file: from)) }
      try this.finish(try await this.onBoards())
    }
  }

  private func onBoards() async throws -> PowerTable {
    try await BoardBench.with(boards, usual: 2, hasBias: true) { bench in
      let stops = distances.isEmpty ? [1, 1.5, 2, 3, 4, 6, 8, 12] : distances
      let name = "\(bench.boards[0].name) – \(bench.boards[1].name)"
      let guide = Guide<[BoardBench.Reading]>(
        prompt: result.consent.yes ? nil : Prompt.shared, what: "distance from antenna to antenna",
        unit: "m", limits: 0.05...1000)
      let kept = try await guide.run(
        stops.map { .init(name: name, value: $0) },
        measure: { try await bench.range(0, 1, distance: $1) },
        spread: { readings, truth in
          let powers = readings.compactMap(\.power)
          let mean = powers.reduce(0, +) / Double(max(1, powers.count))
          return readings.summary(truth: truth)
            + (powers.isEmpty ? "; no level" : "; \(fixed(mean, 1)) dBm")
        })
      return PowerTable(kept.map { ($0.value, $0.measured) })
    }
  }

  private func finish(_ table: PowerTable) throws {
    guard let fit = RangeBiasFit(table.ranges), !table.ranges.isEmpty else {
      throw ComputeError.tooLittle("Nothing was measured with a level and a known distance.")
    }
    guard !fit.powerBias.knots.isEmpty else {
      throw ComputeError.tooLittle("The levels are all within a decibel, or missing.")
    }
    var calibration = RangingCalibration()
    calibration.delay_m = fit.delays.reduce(0, +) / Double(fit.delays.count)
    if fit.delays.count > 1 {
      calibration.delays_m = Dictionary(
        zip(table.peers, fit.delays), uniquingKeysWith: { first, _ in first })
    }
    calibration.power_bias = fit.powerBias.knots.map { .init($0) }
    calibration.residuals = .init(fit.residuals)
    for knot in fit.powerBias.knots {
      standardOutput.write(
        "\(fixed(knot.power, 1).right(7)) dBm  \(fixed(knot.bias * 100, 1).right(6)) cm\n")
    }
    standardOutput.write(calibration.summary + "\n")
    try result.save(calibration, charts(table, fit))
  }

  private func charts(_ table: PowerTable, _ fit: RangeBiasFit) -> [Chart] {
    var before: [Chart.Point] = []
    var after: [Chart.Point] = []
    for range in table.ranges {
      guard let power = range.power, fit.delays.indices.contains(range.pair) else { continue }
      let error = range.measured - range.truth - fit.delays[range.pair]
      before.append((power, 100 * error))
      after.append((power, 100 * (error - fit.powerBias.bias(at: power))))
    }
    let line = fit.powerBias.knots.map { ($0.power, 100 * $0.bias) }
    return [
      Chart(
        title: "What the level adds to distances", x: "received level (dBm)", y: "too long (cm)",
        series: [
          .init(name: "measured", colour: .grey, mark: .points, points: before, fits: false),
          .init(name: "table", colour: .blue, mark: .line, points: line),
        ]
      ).showing(before),
      Chart(
        title: "What is left", x: "received level (dBm)", y: "residual (cm)",
        series: [.init(name: "", colour: .blue, mark: .points, points: after, fits: false)]
      ).showing(after),
    ]
  }
}

/// Distances with levels and truth.
struct PowerTable {
  private(set) var ranges: [KnownRange] = []
  /// By the number of the pair.
  private(set) var peers: [String] = []

  init(_ kept: [(truth: Double, readings: [BoardBench.Reading])]) {
    peers = ["A-B"]
    for (truth, readings) in kept {
      var level = LevelTracker()
      for reading in readings {
        guard let range = reading.range else { continue }
        let power = reading.power.map { level.update($0, time: reading.time) }
        ranges.append(KnownRange(measured: range, truth: truth, power: power))
      }
    }
  }

  init(file: String) throws(ComputeError) {
    let table = try CSVTable(try ComputeFiles.read(file))
    let truth = try table.require("truth", .length)
    let range = try table.require("range", .length)
    let power = try table.require("rx_power", .level)
    let peerColumn = table.find("peer", .number)
    let timeColumn = table.find("time", .time)
    var numbers: [String: Int] = [:]
    var levels: [String: LevelTracker] = [:]
    var problems = RowProblems()
    for row in 0..<table.rowCount {
      var status = RowStatus.ok
      let known = table.value(row, truth, &status)
      let measured = table.value(row, range, &status)
      let received = table.value(row, power, &status)
      problems.take(status.word, row: row)
      guard let known, let measured, let received else { continue }
      let peer = peerColumn.map { table.text(row, $0.index) } ?? ""
      let pair = numbers[peer] ?? numbers.count
      if numbers[peer] == nil { peers.append(peer) }
      numbers[peer] = pair
      let level = levels[peer, default: LevelTracker()].update(
        received, time: table.value(row, timeColumn))
      ranges.append(KnownRange(measured: measured, truth: known, power: level, pair: pair))
    }
    try problems.report(table)
  }
}

extension Chart {
  /// With axes that hold all but the farthest of some points.
  func showing(_ points: [Point]) -> Chart {
    let ys = points.map(\.y).sorted()
    guard ys.count >= 2 else { return self }
    let (low, high) = (ys[ys.count / 50], ys[ys.count - 1 - ys.count / 50])
    let room = 0.4 * (high - low)
    let xs = points.map(\.x)
    var chart = self
    chart.series.append(
      Series(
        name: "", colour: .grey, mark: .line,
        points: [(xs.min() ?? 0, low - room), (.nan, .nan), (xs.max() ?? 1, high + room)]))
    return chart
  }
}
