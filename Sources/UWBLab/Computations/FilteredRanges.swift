// SPDX-License-Identifier: Apache-2.0

public import Ranging

extension CSVTable {
  /// Filters ranges (columns `time`, `range`, and where there are any `peer`, `sigma`, `rx_power` and
  /// `fp_power`), each peer separately.
  ///
  /// - Parameters:
  ///   - sigma: noise of a range in metres, one standard deviation, where no column tells it.
  ///   - live: whether each estimate uses only what was known at its time, not the whole recording.
  /// - Throws: `LabError` when a column is missing.
  public func filteredRanges(
    sigma: Double = 0.1, _ parameters: RangeEstimator.Parameters = .init(), live: Bool = false
  ) throws(LabError) -> ComputedTable<RangeEstimate> {
    var reader = TableReader(self)
    let time = try reader.require("time", .time)
    let range = try reader.require("range", .length)
    let sigmaColumn = reader.find("sigma", .length)
    let received = reader.find("rx_power", .level)
    let firstPath = reader.find("fp_power", .level)
    let model = LineOfSightModel()
    var rows: [ComputedRow<RangeEstimate>] = []
    var ranges: [Double?] = []
    var peers: [String: [(row: Int, sample: RangeSample)]] = [:]
    var start: Double?
    for row in 0..<rowCount {
      var status = RowStatus()
      let seconds = reader.value(row, time, &status)
      let measured = reader.value(row, range, &status)
      let peer = reader.peer(row)
      rows.append(ComputedRow(row: row, peer: peer, time: seconds, state: status))
      ranges.append(measured)
      guard let seconds, let measured else { continue }
      // Squared, times since 1970 leave no room for microseconds.
      let first = start ?? seconds
      start = first
      let diagnostics = ReceptionDiagnostics(
        received: reader.value(row, received), firstPath: reader.value(row, firstPath))
      let deviation = model.inflated(
        reader.deviation(row, sigmaColumn, usual: sigma),
        probability: model.probability(diagnostics))
      peers[peer, default: []].append(
        (
          row,
          RangeSample(time: seconds - first, distance: measured, standardDeviation: deviation)
        ))
    }
    for samples in peers.values {
      if live {
        var estimator = RangeEstimator(parameters)
        for (row, sample) in samples { rows[row].value = estimator.update(sample) }
      } else {
        let smoothed = RangeSmoother(parameters).smoothed(samples.map(\.sample))
        for ((row, _), estimate) in zip(samples, smoothed) { rows[row].value = estimate }
      }
    }
    for row in rows.indices where rows[row].state.isOK {
      rows[row].state.word = rows[row].value?.disposition.word ?? "no_estimate"
    }
    return ComputedTable(
      reader, rows,
      [
        .number("range_m", \.distance), .number("sigma_m", \.standardDeviation),
        .flag("accepted", \.isAccepted),
      ]
    ) { [ranges] rows in
      let points = rows.compactMap { row in
        row.time.map {
          Chart.RangePoint(
            peer: row.peer, time: $0, measured: ranges[row.row], estimate: row.value?.distance,
            sigma: row.value?.standardDeviation, isOutlier: row.value?.isAccepted == false)
        }
      }
      return [.ranges("Filtered ranges", hasTime: true, points)]
    }
  }
}

extension ReceptionDiagnostics {
  fileprivate init(received: Double?, firstPath: Double?) {
    self.init()
    (receivedPower, firstPathPower) = (received, firstPath)
  }
}

extension RangeEstimate.Disposition {
  /// One word for programs.
  fileprivate var word: String {
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
