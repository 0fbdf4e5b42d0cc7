// SPDX-License-Identifier: Apache-2.0

package import Estimators
import Formats
import Ranging

/// Determines antenna delays from pairs of boards at known distances.
package struct DelayCalibration {
  /// The accuracy of positions in metres, reflections included, one standard deviation.
  package var placementDeviation = 0.02
  /// Known delays of boards, in metres.
  package var known: [String: Double] = [:]

  package init() {}

  /// Measures every pair of boards at each of its distances.
  ///
  /// - Parameter distances: the known distances of two names, in both orders.
  package func measurements(
    on bench: BoardBench, distances: [[String]: [Double]], channel: Int,
    _ console: any CalibrationConsole, isInteractive: Bool
  ) async throws -> [DelayMeasurement] {
    let names = bench.boards.map(\.name)
    let placements = Self.placements(of: names, distances)
    let kept = try await Guide<[BoardBench.Reading]>.distances(console, isInteractive).run(
      placements.map { .init(name: "\(names[$0.a]) – \(names[$0.b])", value: $0.distance) },
      measure: { try await bench.range(placements[$0].a, placements[$0].b, distance: $1).readings },
      summary: { $0.summary(truth: $1) })
    return kept.flatMap { stop, truth, readings in
      readings.compactMap(\.range).map { range in
        DelayMeasurement(
          BoardAntenna(names[placements[stop].a], channel: channel),
          BoardAntenna(names[placements[stop].b], channel: channel), measured: range, truth: truth)
      }
    }
  }

  /// Returns each pair of boards, by index, at each of its distances; nil where it is unknown.
  private static func placements(
    of names: [String], _ distances: [[String]: [Double]]
  ) -> [(a: Int, b: Int, distance: Double?)] {
    var result: [(a: Int, b: Int, distance: Double?)] = []
    for a in names.indices {
      for b in names.indices.dropFirst(a + 1) {
        let known: [Double?] = distances[[names[a], names[b]]] ?? [nil]
        result += known.map { (a, b, $0) }
      }
    }
    return result
  }

  /// - Throws: `LabError` when the measurements do not suffice.
  package func fit(_ measurements: [DelayMeasurement]) throws(LabError) -> AntennaDelayFit {
    var parameters = AntennaDelayFit.Parameters()
    parameters.placementDeviation = placementDeviation
    for antenna in Set(measurements.flatMap { [$0.a, $0.b] }) {
      parameters.known[antenna] = known[antenna.board]
    }
    do { return try AntennaDelayFit(measurements, parameters) } catch {
      throw .insufficient(error.description)
    }
  }
}

extension Guide<[BoardBench.Reading]> {
  static func distances(
    _ console: any CalibrationConsole, _ isInteractive: Bool
  ) -> Guide<[BoardBench.Reading]> {
    Guide(
      console: console, isInteractive: isInteractive, quantity: "distance from antenna to antenna",
      unit: "m", limits: 0.05...1000)
  }
}

extension CSVTable {
  /// Reads distances of pairs of boards (columns `board_a`, `board_b`, `truth`, `range`, and
  /// optionally `channel`, `antenna_a` and `antenna_b`).
  ///
  /// - Throws: `LabError` when a column is missing or no row can be used.
  package func delayMeasurements() throws(LabError) -> LabRows<DelayMeasurement> {
    var reader = TableReader(self)
    let ends = try EndColumns(&reader)
    let truth = try reader.require("truth", .length)
    let range = try reader.require("range", .length)
    let rows = try reader.rows { [reader] row, status in
      let known = reader.value(row, truth, &status)
      let measured = reader.value(row, range, &status)
      let (a, b) = ends.antennas(row, reader)
      if a.board.isEmpty || b.board.isEmpty { status.blame(.missing("board")) }
      if a == b { status.blame(.invalid("board_b")) }
      guard let known, let measured else { return nil as DelayMeasurement? }
      return DelayMeasurement(a, b, measured: measured, truth: known)
    }
    guard !rows.values.isEmpty else { throw .insufficient("The table has no rows.") }
    return rows
  }
}

extension AntennaDelayFit {
  /// The report on the fit.
  package var report: CalibrationReport {
    var calibration = RangingCalibration()
    calibration.residuals = .init(
      residuals, positions: positions, positionDeviation: placementDeviation)
    // Two boards determine only the sum, which also corrects tables that do not name the boards.
    if delays.isEmpty, sums.count == 1 { calibration.delay = sums.first?.delay.metres }
    let single = delays.sorted { $0.key < $1.key }.map {
      RangingCalibration.Antenna($0.key, $0.value)
    }
    calibration.antennaDelays = single.isEmpty ? nil : single
    let loose = Set(undetermined.joined())
    let pairs = sums.filter { loose.contains($0.a) || loose.contains($0.b) }
    calibration.pairDelays = pairs.isEmpty ? nil : pairs.map { .init($0) }
    return CalibrationReport(
      text: text, calibration: calibration, charts: [chart], problem: problem)
  }

  /// The reason why delays from these placements would be wrong.
  private var problem: LabError? {
    let outliers = placements.count { $0.verdict == .outlier }
    guard 2 * outliers >= placements.count else { return nil }
    return .insufficient(
      "No delay follows from these placements: \(outliers) of \(placements.count) contradict the "
        + "others.",
      suggestion: "Check the distances, keep the boards at rest, and measure again.")
  }

  /// The number of positions at which each pair was measured; of the least one.
  private var positions: Int {
    var counts: [[BoardAntenna]: Int] = [:]
    for one in placements where one.verdict != .outlier { counts[[one.a, one.b], default: 0] += 1 }
    return counts.values.min() ?? 1
  }

  /// The constant error that distances of calibrated pairs still have, and the way to reduce it.
  private var remainder: String {
    let (few, enough) = (positions, 3)
    func metres(_ positions: Int) -> String {
      let deviation = RangingCalibration.biasDeviation(
        positions: positions, each: placementDeviation)
      return fixed(deviation, 2) + " m"
    }
    let text = "With this calibration, ± \(metres(few)) of each distance repeats"
    return few >= enough
      ? text + ".\n"
      : text + "; \(enough) distances of each pair make it \(metres(enough)).\n"
  }

  /// Sentences about placements to doubt.
  package var warnings: [String] {
    // Single distances of resting boards in the open scatter by less than 10 cm.
    let wide = placements.filter { $0.spread > 0.2 }
    guard let worst = wide.max(by: { $0.spread < $1.spread }) else { return [] }
    let others = wide.count > 1 ? ", and \(wide.count - 1) more by over 20 cm" : ""
    return [
      "The distances of \(name(worst.a)) – \(name(worst.b)) at \(fixed(worst.truth, 3)) m scatter by "
        + "\(fixed(worst.spread * 100, 0)) cm\(others); a few centimetres are usual. Check the "
        + "distance, the antennas and the view between them, and measure again."
    ]
  }

  private func name(_ antenna: BoardAntenna) -> String {
    let port = antenna.port
    let extra = port.antenna == 0 ? "" : ".\(port.antenna)"
    return printable(antenna.board) + extra + (port.channel == 9 ? "" : " ch\(port.channel)")
  }

  private func text(_ delay: Delay) -> String {
    "\(fixed(delay.metres, 4)) ± \(fixed(delay.standardDeviation, 4)) m\n"
  }

  private var text: String {
    var table = TextTable()
    table.add("pair", "distance", "measured", "too long", "spread", "residual", "")
    for one in placements {
      table.add(
        "\(name(one.a)) – \(name(one.b))", "\(fixed(one.truth, 3)) m", "\(one.count)",
        "\(fixed(one.excess * 100, 1)) cm", "\(fixed(one.spread * 100, 1)) cm",
        "\(fixed(one.residual * 100, 1)) cm", one.verdict == .used ? "" : one.verdict.rawValue)
    }
    var text = table.text + "\n"
    for (antenna, delay) in delays.sorted(by: { $0.key < $1.key }) {
      text += "\(name(antenna)): \(self.text(delay))"
    }
    for group in undetermined {
      text +=
        "Only sums are known of \(group.map(name).joined(separator: ", ")), and the file has these sums: single "
        + "delays need three boards in a triangle, or one whose delay is known (--known).\n"
    }
    let loose = Set(undetermined.joined())
    for sum in sums where loose.contains(sum.a) || loose.contains(sum.b) {
      text += "\(name(sum.a)) + \(name(sum.b)): \(self.text(sum.delay))"
    }
    if placements.contains(where: { $0.verdict == .suspect }) {
      text += "One of the suspect placements is wrong. Measure both again.\n"
    }
    guard problem == nil else { return text }
    return text
      + (redundancy == 0
        ? "There are no redundant placements: a wrong one would go unnoticed.\n"
        : "\(redundancy) redundant placements; residuals \(fixed(residuals.rms * 100, 1)) cm RMS.\n")
      + remainder
  }

  private var chart: Chart {
    var series: [Chart.Series] = []
    let groups: [(Verdict, Chart.Colour)] = [
      (.used, .blue), (.suspect, .orange), (.outlier, .red),
    ]
    for (verdict, colour) in groups {
      let list = placements.enumerated().filter { $0.element.verdict == verdict }
      guard !list.isEmpty else { continue }
      let points = list.map { (x: Double($0.offset), y: $0.element.residual * 100) }
      let bars = zip(points, list).map { point, one in
        let spread = one.element.spread * 100
        return (x: point.x, low: point.y - spread, high: point.y + spread)
      }
      series.append(Chart.Series("", colour, .bars(bars)))
      series.append(
        Chart.Series(verdict.rawValue, colour, .points, points))
    }
    return Chart(
      title: "Residual of each placement (bars: spread of single measurements)", x: "pair",
      y: "residual (cm)", series: series,
      categories: placements.map { "\(name($0.a))–\(name($0.b))" })
  }
}
