// SPDX-License-Identifier: Apache-2.0

import Estimators
public import Ranging

extension CSVTable {
  /// Filters the ranges of each peer (columns `time`, `range`, and optionally `peer`, `sigma`,
  /// `rx_power` and `fp_power`).
  ///
  /// - Parameters:
  ///   - sigma: noise of a range in metres, one standard deviation, for rows without a cell that
  ///     states it.
  ///   - biasDeviation: error that all ranges share in metres, one standard deviation, unless a
  ///     column or `calibration` states it.
  ///   - parameters: the parameters of the filter.
  ///   - live: whether each estimate uses only its row and earlier rows.
  ///   - calibration: the measured errors of the ranges.
  /// - Throws: `LabError` if a column is missing.
  public func filteredRanges(
    sigma: Double = 0.1, biasDeviation: Double = 0,
    _ parameters: RangeEstimator.Parameters = .init(),
    live: Bool = false, calibration: RangingCalibration? = nil
  ) throws(LabError) -> ComputedTable<RangeEstimate> {
    try filtering(
      sigma: sigma, biasDeviation: biasDeviation, parameters, live: live, calibration: calibration
    ).table()
  }

  /// Returns the computation of `filteredRanges`.
  package func filtering(
    sigma: Double, biasDeviation: Double, _ parameters: RangeEstimator.Parameters, live: Bool,
    calibration: RangingCalibration? = nil
  ) throws(LabError) -> RowComputation<RangeEstimate> {
    let beginning = try MeasuredRanges(
      self, sigma: sigma, bias: biasDeviation, calibration)
    var (first, measured) = (beginning, beginning)
    var estimators = RecentPeers<RangeEstimator>()
    /// The samples and estimates of each peer in a recording. An estimate needs all samples of the
    /// peer.
    var recorded: [String: RecordedRanges] = [:]
    let smoothing = RowComputation<RangeEstimate>.Preparation { reader, row in
      let taken = first.take(row, reader)
      guard let sample = taken.sample else { return }
      recorded[taken.result.peer, default: RecordedRanges()].samples.append(sample)
    } finish: {
      for peer in Array(recorded.keys) { recorded[peer]?.smooth(parameters) }
    }
    return RowComputation(
      beginning.reader, .filteredRanges(beginning.tellsPaths), prepare: live ? nil : smoothing
    ) { reader, row in
      let taken = measured.take(row, reader)
      var result = taken.result
      guard let sample = taken.sample else { return result }
      result.value =
        live
        ? estimators.update(result.peer, from: RangeEstimator(parameters)) { $0.update(sample) }
        : recorded[result.peer]?.takeNext()
      result.setStatus(constant: taken.constant)
      return result
    } draw: { rows in
      var measured = beginning
      let points = rows.compactMap { row in
        let range = measured.take(row.row, measured.reader).range
        return row.time.map {
          Chart.RangePoint(
            peer: row.peer, time: $0, measured: range, estimate: row.value?.distance,
            sigma: row.value?.standardDeviation, isOutlier: row.value?.isAccepted == false)
        }
      }
      return [.ranges("Filtered ranges", hasTime: true, points)]
    }
  }
}

/// The samples of a peer in a recording, and later the estimates for them.
private struct RecordedRanges {
  var samples: [RangeSample] = []
  private var estimates: [RangeEstimate?] = []
  private var next = 0

  mutating func smooth(_ parameters: RangeEstimator.Parameters) {
    estimates = RangeSmoother(parameters).smoothed(samples)
    samples = []
  }

  mutating func takeNext() -> RangeEstimate? {
    // A file that has grown between two passes has more rows than estimates.
    guard next < estimates.count else { return nil }
    defer { next += 1 }
    return estimates[next]
  }
}

/// The columns of ranges in a table, and the columns that describe their errors.
private struct MeasuredRanges {
  let reader: TableReader
  private let time: Column
  private let range: Column
  private let sigmaColumn: Column?
  private let biasColumn: Column?
  /// The columns of `uwbctl range` with calibrated distances; nil if another calibration corrects
  /// the distances.
  private let corrected: CorrectedColumns?
  private let path: PathColumns
  private let sigma: Double
  /// The deviation of the constant error in metres, for rows without other information.
  private let bias: Double
  private var calibrator: RangeCalibrator
  private var start: Double?

  init(
    _ table: CSVTable, sigma: Double, bias: Double,
    _ calibration: RangingCalibration?
  ) throws(LabError) {
    var reader = TableReader(table)
    time = try reader.require("time", .time)
    corrected = calibration?.hasDistances == true ? nil : reader.corrected
    // `uwbctl range` has this name.
    range = try reader.requireRange(
      reader.has("distance", .length) ? "distance" : "range", calibration: calibration)
    sigmaColumn = corrected?.noise ?? reader.find("sigma", .length)
    biasColumn = reader.find("bias_sigma", .length)
    path = try PathColumns(&reader, calibration?.path)
    calibrator = try RangeCalibrator(calibration, &reader)
    (self.reader, self.sigma, self.bias) = (reader, sigma, bias)
  }

  /// Whether there are columns that indicate a blocked path.
  var tellsPaths: Bool { !path.isEmpty }

  /// Reads a row. Returns the measured range, the sample for the filter, and the deviation of the
  /// constant error, which no filter removes.
  mutating func take(
    _ row: Int, _ reader: TableReader
  ) -> (
    result: ComputedRow<RangeEstimate>, range: Double?, sample: RangeSample?, constant: Double
  ) {
    var status = RowStatus.ok
    let seconds = reader.value(row, time, &status)
    let measured = reader.value(row, range, &status)
    var result = ComputedRow<RangeEstimate>(
      row: row, peer: reader.peer(row), time: seconds, state: status)
    guard let seconds, let measured else { return (result, measured, nil, 0) }
    guard
      let known = calibrator.corrected(
        measured, row, peer: result.peer, time: seconds, reader, &result.state)
    else { return (result, measured, nil, 0) }
    // Times are relative to the first one. Squares of times since 1970 would lose microseconds.
    let first = start ?? seconds
    start = first
    result.blocked = path.probability(row, distance: measured, reader)
    let deviation = reader.deviation(row, sigmaColumn, constant: biasColumn, usual: sigma)
    let effect = path.model.effect(probability: result.blocked, on: deviation * deviation)
    var sample = RangeSample(
      time: seconds - first, distance: known.range - effect.excess,
      standardDeviation: effect.variance.squareRoot())
    (sample.inflation, sample.doubt) = (effect.factor, effect.doubt)
    let constant =
      calibrator.deviation.map { ($0 * $0 + known.deviation * known.deviation).squareRoot() }
      ?? corrected?.constant(row, reader) ?? reader.value(row, biasColumn) ?? bias
    return (result, known.range, sample, constant)
  }
}

extension ComputedRow<RangeEstimate> {
  /// - Parameter constant: the deviation of the constant error, which the filter does not include.
  fileprivate mutating func setStatus(constant: Double) {
    if let known = value?.standardDeviation, constant > 0 {
      value?.standardDeviation = (known * known + constant * constant).squareRoot()
    }
    if state.isOK { state = value?.disposition.status ?? .result("no_estimate") }
  }
}

extension [OutputColumn<RangeEstimate>] {
  /// - Parameter path: whether there is a column with the probability of a blocked path.
  fileprivate static func filteredRanges(_ path: Bool) -> Self {
    [
      .length("range", \.distance, deviation: \.standardDeviation),
      .number("sigma_m", \.standardDeviation), .flag("accepted", \.isAccepted),
    ] + (path ? [.blocked] : [])
  }
}

extension RangeEstimate.Disposition {
  fileprivate var status: RowStatus {
    switch self {
    case .started: .result("started")
    case .accepted: .ok
    case .restartedAfterGap: .result("restarted_after_gap")
    case .restartedAfterRejections: .result("restarted_after_rejections")
    case .rejectedAsOutlier: .result("outlier")
    case .duplicate: .result("duplicate")
    case .outOfOrder: .result("out_of_order")
    case .invalid: .result("invalid")
    case .predicted: .result("predicted")
    }
  }
}
