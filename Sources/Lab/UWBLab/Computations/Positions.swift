// SPDX-License-Identifier: Apache-2.0

public import Estimators
public import Ranging
import UCI

extension CSVTable {
  /// The relation of consecutive positions.
  public enum Motion {
    /// Each position is computed by itself.
    case independent
    /// Positions are smoothed over the whole recording, or with `live` use only the rows up to
    /// their time. `acceleration` is the spectral density in m²/s³; nil is learned.
    case tracked(acceleration: Double? = nil, live: Bool = false)
  }

  /// Computes positions from ranges (columns `time`, `anchor`, `range`) or differences of ranges
  /// (`time`, `anchor_a`, `anchor_b`, `tdoa`: the distance to b minus the distance to a), each peer
  /// separately.
  ///
  /// - Parameters:
  ///   - anchors: the positions of the anchors.
  ///   - sigma: noise of a range in metres, one standard deviation, for rows without a value in a
  ///     column.
  ///   - height: metres, if known; overrides the height of `anchors`.
  ///   - motion: whether the peers move, and how.
  ///   - calibration: the measured errors of the ranges, where it has delays of peers by the names
  ///     of the anchors.
  /// - Throws: `LabError` when a column is missing.
  public func positions(
    _ anchors: Anchors, sigma: Double = 0.15, height: Double? = nil, motion: Motion = .tracked(),
    calibration: RangingCalibration? = nil
  ) throws(LabError) -> ComputedTable<PositionEstimate> {
    let prior = anchors.prior(height)
    let reader = TableReader(self)
    var epochs = try Epochs(reader, anchors, sigma: sigma, calibration)
    let errors = anchors.errors(calibration, hasUnknownDelays: epochs.hasUnknownDelays)
    switch motion {
    case .independent:
      epochs.solve(height: prior, errors)
    case .tracked(let acceleration, let live):
      var smoother = PositionSmoother(prior, acceleration, errors)
      smoother.errors.single = epochs.errors
      try epochs.track(with: smoother, live: live)
    }
    epochs.setStatuses()
    return ComputedTable(
      reader, epochs.rows, .positions, warnings: Anchors.warnings(surplus: epochs.surplus),
      missing: epochs.missing
    ) { rows in
      let positions = rows.filter { $0.used > 0 }.compactMap { row in
        row.value.map { (row.peer, $0.position, $0.covariance) }
      }
      let landmarks = anchors.byName.sorted { $0.key < $1.key }.map { ($0.key, $0.value.position) }
      return [.tracks("Positions from anchors", positions, landmarks: landmarks)]
    }
  }
}

/// The measurements of a table, grouped by peer and time.
private struct Epochs {
  var rows: [ComputedRow<PositionEstimate>] = []
  private(set) var samples: [[PositionSample]] = []
  /// The deviation of the corrections of single anchors beyond the deviation of the whole
  /// calibration, by their index. It is largest for anchors without a correction of their own.
  private(set) var errors: [Int: Double] = [:]
  /// The number of rows that name an unknown anchor.
  private var unknown: [String: Int] = [:]
  private var byPeer: [String: [Int]] = [:]
  /// The number of measurements that are not used, because their anchor has enough at their time.
  private(set) var surplus = 0
  /// The columns of the table, if its peers are the anchors.
  private let columnsBesidePeers: [String]?
  /// As in `AnchorColumns`.
  let isDifference, hasUnknownDelays: Bool

  init(
    _ table: TableReader, _ anchors: Anchors, sigma: Double, _ calibration: RangingCalibration?
  ) throws(LabError) {
    var columns = try AnchorColumns(table, sigma: sigma, calibration)
    columnsBesidePeers = columns.hasPeersAsAnchors ? table.table.header : nil
    (isDifference, hasUnknownDelays) = (columns.isDifference, columns.hasUnknownDelays)
    for row in 0..<table.table.rowCount {
      let measured = columns.take(row, anchors)
      let index = index(of: row, peer: measured.peer, time: measured.time)
      for name in measured.unknown { unknown[name, default: 0] += 1 }
      guard let sample = measured.sample else {
        if rows[index].state.isOK { rows[index].state = measured.status }
        continue
      }
      if measured.deviation > 0 {
        errors[sample.source] = max(errors[sample.source] ?? 0, measured.deviation)
      }
      samples[index].append(sample)
    }
    for index in rows.indices {
      let all = samples[index].count
      samples[index] = samples[index].withoutSurplus
      rows[index].used = samples[index].count
      surplus += all - rows[index].used
    }
  }

  /// Returns the index of the epoch of a row, which may be a new one.
  private mutating func index(of row: Int, peer: String, time: Double?) -> Int {
    if let time, let last = byPeer[peer]?.last, rows[last].time == time { return last }
    rows.append(ComputedRow(row: row, peer: peer, time: time))
    samples.append([])
    if time != nil { byPeer[peer, default: []].append(rows.count - 1) }
    return rows.count - 1
  }

  /// Computes each epoch by itself. The errors of ranges that repeat are a part of the uncertainty.
  mutating func solve(height: HeightPrior, _ model: PositionErrorModel) {
    var solver = PositionSolver(height: height)
    var errors = errors
    if !isDifference {
      solver.sharedDeviation = model.shared
      for source in Set(samples.joined().map(\.source)) {
        let single = errors[source] ?? 0
        errors[source] = (model.own * model.own + single * single).squareRoot()
      }
    }
    for index in rows.indices {
      rows[index].value = solver.solve(samples[index].observations(errors: errors))
    }
  }

  /// The error for unknown anchors.
  var missing: LabError? { Anchors.missing(unknown, besidePeers: columnsBesidePeers) }

  /// Follows each peer.
  ///
  /// - Throws: `LabError` when that takes too much memory.
  mutating func track(with smoother: PositionSmoother, live: Bool) throws(LabError) {
    for indices in byPeer.values {
      let order = indices.sorted { (rows[$0].time ?? 0) < (rows[$1].time ?? 0) }
      let list = order.flatMap { samples[$0] }
      try Self.check(list, live: live)
      var track = smoother.path(list, live: live)[...]
      for index in order {
        let points = track.prefix(samples[index].count)
        track = track.dropFirst(points.count)
        rows[index].value = points.last.flatMap { $0?.estimate }
        rows[index].used = points.count { $0?.isAccepted == true }
      }
    }
  }

  /// Checks the memory for the path of a peer. The tracker has two states for each anchor and a
  /// matrix of all states, and the smoother has a column of it for each measurement.
  private static func check(_ samples: [PositionSample], live: Bool) throws(LabError) {
    let anchors = 1 + (samples.lazy.map { max($0.source, $0.reference ?? 0) }.max() ?? 0)
    guard anchors > 1000 || !live && samples.count * 2 * anchors > 1 << 26 else { return }
    throw LabError(
      .badTable,
      "\(samples.count) measurements to \(anchors) anchors take too much memory for one path.",
      suggestion: "Divide the table, or give --single"
        + (anchors > 1000 ? ": a path has up to 1000 anchors." : " or --live."))
  }

  /// Sets the status of each epoch that has measurements; problems of single rows are dropped then.
  mutating func setStatuses() {
    for index in rows.indices where !samples[index].isEmpty { rows[index].setPositionStatus() }
  }
}

extension ComputedRow<PositionEstimate> {
  mutating func setPositionStatus() {
    guard let estimate = value else { return state = .noPosition }
    if used == 0 { return state = .result("rejected") }
    state = estimate.warnings.isEmpty ? .ok : .result(estimate.warnings.description)
  }
}

extension [OutputColumn<PositionEstimate>] {
  static var positions: Self {
    [
      .length("x", \.position.x) { $0.covariance.xx.squareRoot() },
      .length("y", \.position.y) { $0.covariance.yy.squareRoot() },
      .length("z", \.position.z) { $0.covariance.zz.squareRoot() },
      .number("r95_m", \.r95),
      .number("cov_xx", digits: 6, \.covariance.xx),
      .number("cov_xy", digits: 6, \.covariance.xy),
      .number("cov_xz", digits: 6, \.covariance.xz),
      .number("cov_yy", digits: 6, \.covariance.yy),
      .number("cov_yz", digits: 6, \.covariance.yz),
      .number("cov_zz", digits: 6, \.covariance.zz),
      OutputColumn(name: "used") { .text("\($0.used)") },
    ]
  }
}

extension Anchors {
  /// Returns the prior of the height: the given one, the height in the file, or about the height
  /// of the anchors.
  func prior(_ given: Double?) -> HeightPrior {
    (given ?? height).map { HeightPrior($0, standardDeviation: 0.02) } ?? usualHeight
  }

  /// Returns a sentence about measurements that are not used.
  static func warnings(surplus: Int) -> [String] {
    let most = [PositionSample].mostRepetitions
    return surplus == 0
      ? []
      : [
        "\(counted(surplus, "row")) of anchors with more than \(most) rows of one peer at one time "
          + "\(surplus == 1 ? "is" : "are") not used: \(most) of each are enough."
      ]
  }

  /// Returns the error for rows that name unknown anchors.
  ///
  /// - Parameters:
  ///   - unknown: the number of these rows, by the anchor.
  ///   - columns: the columns of the table, if its peers are the anchors.
  static func missing(_ unknown: [String: Int], besidePeers columns: [String]?) -> LabError? {
    guard !unknown.isEmpty else { return nil }
    let names = unknown.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let list = names.prefix(5).map {
      "\($0.key.isEmpty ? "(no name)" : LabError.shortened($0.key)) (\(counted($0.value, "row")))"
    }
    return LabError(
      .badTable,
      "The file does not have the anchors of some rows: " + list.joined(separator: ", ")
        + (names.count > 5 ? " and \(names.count - 5) more." : "."),
      suggestion:
        "Add their positions to the file of --anchors, or take their rows out of the table."
        + (columns.map {
          " Without a column anchor, the peers are the anchors. If another column has the anchors, "
            + "rename it: \(LabError.list($0))"
        } ?? ""))
  }
}

extension Anchors {
  /// Returns the errors of measurements to these anchors. A bias of an anchor is a calibration.
  func errors(
    _ calibration: RangingCalibration?, hasUnknownDelays: Bool
  ) -> PositionErrorModel {
    var errors = PositionErrorModel()
    if let calibration, calibration.hasDistances {
      errors.shared = calibration.biasDeviation
      errors.own = min(errors.own, calibration.biasDeviation)
    } else if hasUnknownDelays, byName.values.allSatisfy({ $0.bias == 0 }) {
      errors = .uncalibrated
    }
    return errors
  }
}

extension PositionSmoother {
  init(_ height: HeightPrior, _ acceleration: Double?, _ errors: PositionErrorModel) {
    var parameters = PositionTracker.Parameters()
    parameters.accelerationDensity = acceleration ?? 1
    parameters.height = height
    self.init(parameters)
    if acceleration != nil { accelerations = [1] }
    self.errors = errors
  }
}

/// The columns of measurements to anchors.
struct AnchorColumns {
  var reader: TableReader
  private let time, value, first: Column
  /// The second anchor of a difference; nil for ranges.
  private let second: Column?
  private let sigmaColumn, biasColumn: Column?
  private let constants: ConstantColumns?
  private let sigma: Double
  private var calibrator: RangeCalibrator
  private let path: PathColumns?
  /// The index of each anchor.
  private var sources: [String: Int] = [:]

  var hasPeersAsAnchors: Bool { reader.hasPeersAsAnchors }
  var isDifference: Bool { second != nil }
  /// Whether these are ranges of boards without a calibration, and no column states their errors.
  var hasUnknownDelays: Bool { second == nil && constants == nil && calibrator.deviation == nil }

  /// A row: its measurement, or the reason why it has none.
  struct Measured {
    var peer: String
    var time: Double?
    var status = RowStatus.ok
    var sample: PositionSample?
    /// The deviation of the correction of this anchor.
    var deviation = 0.0
    var unknown: [String] = []
  }

  init(
    _ table: TableReader, sigma: Double, _ calibration: RangingCalibration?
  ) throws(LabError) {
    var reader = table
    time = try reader.require("time", .time)
    let isDifference =
      reader.find("tdoa", .length) != nil
      || reader.has("anchor_a", .number) && !reader.has("range", .length)
    value =
      try isDifference
      ? reader.require("tdoa", .length) : reader.requireRange(calibration: calibration)
    first = try isDifference ? reader.require("anchor_a") : reader.takeAnchors()
    second = isDifference ? try reader.require("anchor_b") : nil
    (sigmaColumn, biasColumn) = (reader.find("sigma", .length), reader.find("bias_sigma", .length))
    constants = reader.findConstants(calibration)
    if isDifference, calibration != nil {
      throw LabError(
        .badTable, "A calibration of distances does not apply to differences (tdoa).",
        suggestion: "Leave out --calibration, or give ranges.")
    }
    calibrator = try RangeCalibrator(calibration, &reader)
    path = try calibration?.path.map { learned throws(LabError) in
      try PathColumns(&reader, learned)
    }
    (self.reader, self.sigma) = (reader, sigma)
  }

  mutating func take(_ row: Int, _ anchors: Anchors) -> Measured {
    var result = Measured(peer: reader.peer(row))
    result.time = reader.value(row, time, &result.status)
    let measured = reader.value(row, value, &result.status)
    guard let time = result.time, let measured else { return result }
    let (a, b) = (reader.text(row, first), second.map { reader.text(row, $0) })
    guard let from = anchors.byName[a],
      let to = b.map({ anchors.byName[$0] }) ?? from
    else {
      result.status.blame(.unknown("anchor"))
      result.unknown = [a, b].compactMap { $0 }.filter { anchors.byName[$0] == nil }
      return result
    }
    guard
      let corrected = calibrator.corrected(
        measured, row, anchor: a, peer: result.peer, time: time, reader, &result.status)
    else { return result }
    // The tracker already assumes constant errors of ranges.
    let deviation = reader.deviation(row, sigmaColumn, constant: biasColumn, usual: sigma)
    let blocked = path?.probability(row, distance: measured, reader)
    let effect = path?.model.effect(probability: blocked, on: deviation * deviation)
    let observation = PositionObservation(
      b == nil ? .range(from.position) : .difference(from.position, to.position),
      corrected.range - (effect?.excess ?? 0) - (b == nil ? from.bias : to.bias - from.bias),
      standardDeviation: effect?.variance.squareRoot() ?? deviation)
    result.deviation = corrected.deviation
    // Half of the variance of a distance is the anchor's.
    if second == nil, let constants {
      let constant = constants.value(row, reader) ?? ChipFamily.unknown.uncalibratedDeviation
      result.deviation = constant / 2.0.squareRoot()
    }
    let source = source(b ?? a)
    result.sample = PositionSample(
      time: time, observation: observation, source: source,
      reference: b == nil ? nil : self.source(a))
    return result
  }

  private mutating func source(_ anchor: String) -> Int {
    let number = sources[anchor] ?? sources.count
    sources[anchor] = number
    return number
  }
}
