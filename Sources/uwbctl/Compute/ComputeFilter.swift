// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging

/// `uwbctl compute filter`.
struct ComputeFilter: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "filter",
    abstract: "Distances without noise and outliers.",
    discussion: """
      Input: time_s,range_m [, peer, sigma_m, rx_power_dbm, fp_power_dbm]. Peers are filtered each \
      on its own; the two levels tell how likely the direct path is blocked.
      Output: range_m, sigma_m, accepted (1 or 0), status; the measured range becomes \
      input_range_m. Rows that are not accepted have the estimate for their time. Every estimate \
      uses the whole recording, or with --live what was known at its time.
      """)

  @OptionGroup var files: ComputeFiles
  @OptionGroup var plot: PlotOptions
  @Option(help: "Noise of one range in metres, one standard deviation, where no column says it.")
  var sigma = 0.1
  @Option(
    help: """
      How much peers accelerate, in m²/s³: 0.1 trolleys, 1 hands and walking, 10 drones. Learned \
      from the ranges where it is not given.
      """)
  var acceleration: Double?
  @Option(
    help: """
      Error in metres that ranges of seconds share, one standard deviation: reflections and \
      antennas. It stays in sigma_m.
      """)
  var slowError = RangeEstimator.Parameters().slowDeviation
  @Flag(help: "Only what was known at the time of each row, as range and replay print it.")
  var live = false

  func validate() throws {
    let acceleration = acceleration ?? 1
    guard sigma > 0, sigma < 1000, acceleration > 0, acceleration < 1e6 else {
      throw ValidationError("--sigma and --acceleration are greater than 0.")
    }
    guard 0..<1000 ~= slowError else {
      throw ValidationError("--slow-error is in metres and not negative.")
    }
  }

  func run() throws {
    try computing {
      let table = try files.table()
      let columns = try RangeColumns(table)
      var ranges = FilteredRanges(columns, sigma)
      var chart = RangeChart("Filtered ranges", hasTime: true)
      var parameters = RangeEstimator.Parameters()
      parameters.slowDeviation = slowError
      if let acceleration {
        parameters.accelerationDensity = acceleration
        parameters.learnsAcceleration = false
      }
      if live { ranges.filter(parameters) } else { ranges.smooth(parameters) }
      var writer = try files.writer(
        table, adding: ["range_m", "sigma_m", "accepted", "status"])
      for row in 0..<table.rowCount {
        let estimate = ranges.estimates[row]
        if plot.plot != nil, let time = table.value(row, columns.time) {
          chart.add(
            peer: columns.peer.map { table.text(row, $0.index) } ?? "", time: time,
            measured: table.value(row, columns.range), estimate: estimate?.distance,
            sigma: estimate?.standardDeviation, isOutlier: estimate?.isAccepted == false)
        }
        writer.begin(copying: row)
        writer.add(estimate?.distance, digits: 4)
        writer.add(estimate?.standardDeviation, digits: 4)
        writer.add(estimate?.isAccepted == true ? "1" : "0")
        writer.add(ranges.invalid[row] ?? estimate?.disposition.word ?? "no_estimate")
        try writer.end()
      }
      try plot.write([chart.chart])
      try writer.finish()
    }
  }
}

/// The columns of a table of ranges.
struct RangeColumns {
  let table: CSVTable
  let time: Column
  let range: Column
  let peer: Column?
  let sigma: Column?
  let received: Column?
  let firstPath: Column?

  init(_ table: CSVTable) throws(ComputeError) {
    self.table = table
    time = try table.require("time", .time)
    range = try table.require("range", .length)
    peer = table.find("peer", .number)
    sigma = table.find("sigma", .length)
    received = table.find("rx_power", .level)
    firstPath = table.find("fp_power", .level)
  }

  /// The sample in a row. nil when there is none; `status` then says why.
  func sample(
    _ row: Int, sigma usual: Double, from start: Double, _ status: inout RowStatus
  ) -> RangeSample? {
    let time = table.value(row, self.time, &status)
    let range = table.value(row, self.range, &status)
    guard let time, let range else { return nil }
    let model = LineOfSightModel()
    var diagnostics = ReceptionDiagnostics()
    diagnostics.receivedPower = table.value(row, received)
    diagnostics.firstPathPower = table.value(row, firstPath)
    var deviation = table.value(row, sigma) ?? usual
    if deviation <= 0 { deviation = usual }
    return RangeSample(
      time: time - start, distance: range,
      standardDeviation: model.inflated(
        deviation, probability: model.probability(diagnostics)))
  }
}

/// The estimates of a table of ranges, row by row.
struct FilteredRanges {
  private let columns: RangeColumns
  private(set) var estimates: [RangeEstimate?]
  /// Why a row has no sample.
  private(set) var invalid: [Int: String] = [:]
  /// The rows and samples of each peer.
  private var peers: [(rows: [Int], samples: [RangeSample])] = []

  init(_ columns: RangeColumns, _ sigma: Double) {
    self.columns = columns
    let table = columns.table
    estimates = Array(repeating: nil, count: table.rowCount)
    var numbers: [String: Int] = [:]
    var start: Double?
    for row in 0..<table.rowCount {
      var status = RowStatus.ok
      var number = 0
      if let peer = columns.peer {
        let name = table.text(row, peer.index)
        number = numbers[name] ?? numbers.count
        numbers[name] = number
      }
      if number == peers.count { peers.append(([], [])) }
      guard
        let sample = columns.sample(row, sigma: sigma, from: start ?? 0, &status)
      else {
        invalid[row] = status.word
        continue
      }
      var shifted = sample
      if start == nil {
        // Times since 1970 have no room for microseconds behind the point once squared.
        start = sample.time
        shifted.time = 0
      }
      peers[number].rows.append(row)
      peers[number].samples.append(shifted)
    }
  }

  mutating func smooth(_ parameters: RangeEstimator.Parameters) {
    let smoother = RangeSmoother(parameters)
    for peer in peers {
      for (row, estimate) in zip(peer.rows, smoother.smoothed(peer.samples)) {
        estimates[row] = estimate
      }
    }
  }

  mutating func filter(_ parameters: RangeEstimator.Parameters) {
    for peer in peers {
      var estimator = RangeEstimator(parameters)
      for (row, sample) in zip(peer.rows, peer.samples) {
        estimates[row] = estimator.update(sample)
      }
    }
  }
}

extension RangeEstimate.Disposition {
  /// One word for programs.
  var word: String {
    switch self {
    case .started: "started"
    case .accepted: "ok"
    case .restartedAfterGap: "restarted_after_gap"
    case .restartedAfterRejections: "restarted_after_rejections"
    case .rejectedAsOutlier: "outlier"
    case .duplicate: "duplicate"
    case .outOfOrder: "out_of_order"
    case .invalid: "invalid"
    case .predicted: "predicted"
    }
  }
}
