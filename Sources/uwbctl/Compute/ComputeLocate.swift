// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging

/// `uwbctl compute locate`.
struct ComputeLocate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "locate",
    abstract: "Places from ranges, or differences of ranges, to several anchors.",
    discussion: """
      Input: time_s,anchor,range_m, or time_s,anchor_a,anchor_b,tdoa_m, which is the distance to b \
      less that to a [, peer, sigma_m]. Rows of one peer at one time are an epoch.
      Output, a row for each epoch with the other columns of its first row: x_m, y_m, z_m, cov_xx, \
      cov_xy, cov_xz, cov_yy, cov_yz, cov_zz (m²), used (measurements), status: ok, or what may be \
      wrong: mirror, coplanar (heights are not known), dilution, inconsistent, rejected; no_position.

      Anchors in JSON: {"anchors": {"A1": [0, 0, 2.5], "A2": [5, 0, 2.5]}, "height_m": 1.2}, or \
      {"anchors": [{"id": "A1", "x": 0, "y": 0, "z": 2.5, "bias_m": 0.1}, …]}; height_m, if the \
      height of what is located is known.
      """)

  @OptionGroup var files: ComputeFiles
  @OptionGroup var plot: PlotOptions
  @Option(help: "Where the anchors are (JSON).") var anchors: String
  @Option(help: "Noise of one range in metres, one standard deviation, where no column says it.")
  var sigma = 0.15
  @Option(help: "The known height in metres; overrides the file.") var height: Double?
  @Option(
    help: """
      How much peers accelerate, in m²/s³: 0.1 trolleys, 1 hands and walking, 10 drones. Learned \
      from the measurements where it is not given.
      """)
  var acceleration: Double?
  @Flag(help: "Only what was known at the time of each row.") var live = false
  @Flag(help: "Each epoch on its own.") var single = false

  func validate() throws {
    let acceleration = acceleration ?? 1
    guard sigma > 0, acceleration > 0, sigma < 1e3, acceleration < 1e6 else {
      throw ValidationError("--sigma and --acceleration are greater than 0.")
    }
  }

  func run() throws {
    try computing {
      let file = try AnchorFile(file: anchors)
      let table = try files.table()
      let epochs = try AnchorEpochs(table, file, sigma: sigma)
      let known = (height ?? file.height).map { HeightPrior($0, standardDeviation: 0.02) }
      let prior = known ?? epochs.usualHeight
      var writer = try files.writer(
        table,
        adding: [
          "x_m", "y_m", "z_m", "cov_xx", "cov_xy", "cov_xz", "cov_yy", "cov_yz", "cov_zz", "used",
          "status",
        ])
      var estimates = [PlaceEstimate?](repeating: nil, count: epochs.list.count)
      var used = epochs.list.map { $0.samples.count }
      if single {
        let solver = PlaceSolver(height: prior)
        for (index, epoch) in epochs.list.enumerated() {
          estimates[index] = solver.solve(epoch.samples.map(\.observation))
        }
      } else {
        var parameters = PlaceTracker.Parameters()
        parameters.accelerationDensity = acceleration ?? 1
        parameters.height = prior
        var smoother = PlaceSmoother(parameters)
        if acceleration != nil { smoother.accelerations = [1] }
        for indices in epochs.byPeer.values {
          let order = indices.sorted { epochs.list[$0].time < epochs.list[$1].time }
          let samples = order.flatMap { epochs.list[$0].samples }
          let way = smoother.way(samples, live: live)
          var position = 0
          for index in order {
            let count = epochs.list[index].samples.count
            let points = way[position..<(position + count)]
            position += count
            estimates[index] = points.last.flatMap { $0?.estimate }
            used[index] = points.count { $0?.isAccepted == true }
          }
        }
      }
      var chart = TrackChart("Places from anchors")
      chart.landmarks = file.anchors.sorted { $0.key < $1.key }.map { ($0.key, $0.value.place) }
      for (index, epoch) in epochs.list.enumerated() {
        let estimate = estimates[index]
        if plot.plot != nil, let estimate, used[index] > 0 {
          chart.add(peer: epoch.peer, estimate.place, estimate.covariance)
        }
        writer.begin(copying: epoch.row)
        writer.add(estimate?.place.x, digits: 4)
        writer.add(estimate?.place.y, digits: 4)
        writer.add(estimate?.place.z, digits: 4)
        let c = estimate?.covariance
        for value in [c?.xx, c?.xy, c?.xz, c?.yy, c?.yz, c?.zz] { writer.add(value, digits: 6) }
        writer.add("\(used[index])")
        writer.add(epoch.status(estimate, used: used[index]))
        try writer.end()
      }
      try plot.write([chart.chart])
      try writer.finish()
    }
  }
}

/// The rows of a table that belong together.
struct AnchorEpochs {
  struct Epoch {
    /// The first row.
    var row: Int
    var peer: String
    var time: Double
    var samples: [PlaceSample] = []
    /// Why its rows say nothing.
    var problem: String?

    func status(_ estimate: PlaceEstimate?, used: Int) -> String {
      if samples.isEmpty, let problem { return problem }
      guard let estimate else { return "no_position" }
      if used == 0 { return "rejected" }
      let names: [(GeometryWarnings, String)] = [
        (.inconsistent, "inconsistent"), (.mirror, "mirror"), (.coplanar, "coplanar"),
        (.dilution, "dilution"),
      ]
      let words = names.compactMap { estimate.warnings.contains($0.0) ? $0.1 : nil }
      return words.isEmpty ? "ok" : words.joined(separator: "+")
    }
  }

  private(set) var list: [Epoch] = []
  private(set) var byPeer: [String: [Int]] = [:]
  private let anchors: [Vector3]

  init(_ table: CSVTable, _ file: AnchorFile, sigma: Double) throws(ComputeError) {
    anchors = file.anchors.values.map(\.place)
    let timeColumn = try table.require("time", .time)
    let isDifference = table.find("tdoa", .length) != nil
    let value = try table.require(isDifference ? "tdoa" : "range", .length)
    let first = try table.require(isDifference ? "anchor_a" : "anchor", .number)
    let second = isDifference ? try table.require("anchor_b", .number) : nil
    let sigmaColumn = table.find("sigma", .length)
    let peerColumn = table.find("peer", .number)
    var sources: [String: Int] = [:]
    var open: [String: Int] = [:]
    for row in 0..<table.rowCount {
      var status = RowStatus.ok
      let peer = peerColumn.map { table.text(row, $0.index) } ?? ""
      let time = table.value(row, timeColumn, &status)
      let measured = table.value(row, value, &status)
      var index = open[peer]
      if index == nil || list[index ?? 0].time != time || time == nil {
        index = list.count
        list.append(Epoch(row: row, peer: peer, time: time ?? .nan))
        if time != nil {
          open[peer] = index
          byPeer[peer, default: []].append(list.count - 1)
        }
      }
      guard let index, let time, let measured else {
        if let index { list[index].problem = list[index].problem ?? status.word }
        continue
      }
      let a = table.text(row, first.index)
      let b = second.map { table.text(row, $0.index) }
      guard let from = file.anchors[a], let to = b.map({ file.anchors[$0] }) ?? from else {
        list[index].problem = list[index].problem ?? "unknown_anchor"
        continue
      }
      var deviation = table.value(row, sigmaColumn) ?? sigma
      if deviation <= 0 { deviation = sigma }
      let observation = PlaceObservation(
        isDifference ? .difference(from.place, to.place) : .range(from.place),
        measured - (isDifference ? to.bias - from.bias : from.bias),
        standardDeviation: deviation)
      func number(_ anchor: String) -> Int {
        let known = sources[anchor] ?? sources.count
        sources[anchor] = known
        return known
      }
      list[index].samples.append(
        PlaceSample(
          time: time, observation: observation, source: number(b ?? a),
          reference: isDifference ? number(a) : nil))
    }
  }

  /// Where nothing is said of the height: about that of the anchors.
  var usualHeight: HeightPrior {
    let heights = anchors.map(\.z)
    let low = heights.min() ?? 0
    let high = heights.max() ?? 0
    return HeightPrior(
      heights.reduce(0, +) / Double(max(1, heights.count)),
      standardDeviation: max(0.5, high - low))
  }
}
