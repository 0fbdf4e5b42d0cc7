// SPDX-License-Identifier: Apache-2.0

import Ranging

/// Distances of pairs of boards out of a table.
struct DelayTable {
  private(set) var measurements: [DelayMeasurement] = []

  init(file: String) throws(ComputeError) {
    let table = try CSVTable(try ComputeFiles.read(file))
    let ends = try EndColumns(table)
    let truth = try table.require("truth", .length)
    let range = try table.require("range", .length)
    var problems = RowProblems()
    for row in 0..<table.rowCount {
      var status = RowStatus.ok
      let known = table.value(row, truth, &status)
      let measured = table.value(row, range, &status)
      let (a, b) = (ends.a(row), ends.b(row))
      if a.board.isEmpty || b.board.isEmpty { status.blame("board", isEmpty: true) }
      if a == b { status.blame("board_b", isEmpty: false) }
      problems.take(status.word, row: row)
      guard let known, let measured, status.isOK else { continue }
      measurements.append(DelayMeasurement(a, b, measured: measured, truth: known))
    }
    try problems.report(table)
    guard !measurements.isEmpty else { throw .tooLittle("The table has no rows.") }
  }
}

/// What was learned of delays, for people.
struct DelayReport {
  private let fit: AntennaDelayFit

  init(_ fit: AntennaDelayFit) { self.fit = fit }

  private func name(_ antenna: BoardAntenna) -> String {
    let port = antenna.port
    let extra = port.antenna == 0 ? "" : ".\(port.antenna)"
    return printable(antenna.board) + extra + (port.channel == 9 ? "" : " ch\(port.channel)")
  }

  var text: String {
    var table = TextTable()
    table.add("pair", "distance", "measured", "too long", "spread", "residual", "")
    for one in fit.placements {
      table.add(
        "\(name(one.a)) – \(name(one.b))", "\(fixed(one.truth, 3)) m", "\(one.count)",
        "\(fixed(one.excess * 100, 1)) cm", "\(fixed(one.spread * 100, 1)) cm",
        "\(fixed(one.residual * 100, 1)) cm", one.verdict == .used ? "" : one.verdict.rawValue)
    }
    var text = table.text + "\n"
    for antenna in fit.delays.keys.sorted() {
      guard let delay = fit.delays[antenna] else { continue }
      text +=
        "\(name(antenna)): \(fixed(delay.metres, 4)) ± \(fixed(delay.standardDeviation, 4)) m\n"
    }
    let loose = Set(fit.undetermined.joined())
    for group in fit.undetermined {
      text +=
        "Of \(group.map(name).joined(separator: ", ")) only sums are known: it takes three boards in "
        + "a triangle, or one whose delay is known.\n"
    }
    for sum in fit.sums where loose.contains(sum.a) || loose.contains(sum.b) {
      text +=
        "\(name(sum.a)) + \(name(sum.b)): \(fixed(sum.delay.metres, 4)) ± "
        + "\(fixed(sum.delay.standardDeviation, 4)) m\n"
    }
    if fit.placements.contains(where: { $0.verdict == .suspect }) {
      text += "One of the suspect placements is wrong; nothing tells which. Measure both again.\n"
    }
    text +=
      fit.redundancy == 0
      ? "No placement is more than it takes: a wrong one would not show.\n"
      : "\(fit.redundancy) placements more than it takes; residuals \(fixed(fit.residuals.rms * 100, 1))"
        + " cm RMS.\n"
    return text
  }

  var chart: Chart {
    let names = fit.placements.map { "\(name($0.a))–\(name($0.b))" }
    var series: [Chart.Series] = []
    let groups: [(AntennaDelayFit.Verdict, Chart.Colour)] = [
      (.used, .blue), (.suspect, .orange), (.outlier, .red),
    ]
    for (verdict, colour) in groups {
      let list = fit.placements.enumerated().filter { $0.element.verdict == verdict }
      guard !list.isEmpty else { continue }
      series.append(
        Chart.Series(
          name: "", colour: colour,
          mark: .bars(
            list.map { index, one in
              let (middle, spread) = (one.residual * 100, one.spread * 100)
              return (Double(index), middle - spread, middle + spread)
            })))
      series.append(
        Chart.Series(
          name: verdict.rawValue, colour: colour, mark: .points,
          points: list.map { (Double($0.offset), $0.element.residual * 100) }))
    }
    return Chart(
      title: "What is left of each placement (bars: spread of single measurements)", x: "pair",
      y: "residual (cm)", series: series, categories: names)
  }
}
