// SPDX-License-Identifier: Apache-2.0

public import Estimators
public import Ranging

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
    let known = (height ?? anchors.height).map { HeightPrior($0, standardDeviation: 0.02) }
    let prior = known ?? anchors.usualHeight
    let reader = TableReader(self)
    var epochs = try Epochs(reader, anchors, sigma: sigma, calibration)
    switch motion {
    case .independent:
      let solver = PositionSolver(height: prior)
      for index in epochs.rows.indices {
        epochs.rows[index].value = solver.solve(
          epochs.samples[index].observations(errors: epochs.errors))
      }
    case .tracked(let acceleration, let live):
      var parameters = PositionTracker.Parameters()
      parameters.accelerationDensity = acceleration ?? 1
      parameters.height = prior
      var smoother = PositionSmoother(parameters)
      if acceleration != nil { smoother.accelerations = [1] }
      if let calibration, calibration.hasDistances {
        smoother.errors.shared = calibration.biasDeviation
        smoother.errors.own = min(smoother.errors.own, calibration.biasDeviation)
        smoother.errors.single = epochs.errors
      }
      epochs.track(with: smoother, live: live)
    }
    epochs.setStatuses()
    return try ComputedTable(
      reader, epochs.rows,
      [
        .length("x", \.position.x) { $0.covariance.xx.squareRoot() },
        .length("y", \.position.y) { $0.covariance.yy.squareRoot() },
        .length("z", \.position.z) { $0.covariance.zz.squareRoot() },
        .number("cov_xx", digits: 6, \.covariance.xx),
        .number("cov_xy", digits: 6, \.covariance.xy),
        .number("cov_xz", digits: 6, \.covariance.xz),
        .number("cov_yy", digits: 6, \.covariance.yy),
        .number("cov_yz", digits: 6, \.covariance.yz),
        .number("cov_zz", digits: 6, \.covariance.zz),
        OutputColumn(name: "used") { [used = epochs.used] in .text("\(used[$0.row] ?? 0)") },
      ],
      missing: epochs.missing
    ) { [used = epochs.used] rows in
      let positions = rows.filter { used[$0.row] ?? 0 > 0 }.compactMap { row in
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
  /// The number of used measurements, by the row of the input.
  private(set) var used: [Int: Int] = [:]
  /// The deviation of the corrections of single anchors beyond the deviation of the whole
  /// calibration, by their index. It is largest for anchors without a correction of their own.
  private(set) var errors: [Int: Double] = [:]
  /// The number of rows that name an unknown anchor.
  private var unknown: [String: Int] = [:]
  private var byPeer: [String: [Int]] = [:]

  init(
    _ table: TableReader, _ anchors: Anchors, sigma: Double, _ calibration: RangingCalibration?
  ) throws(LabError) {
    var reader = table
    let timeColumn = try reader.require("time", .time)
    let isDifference =
      reader.find("tdoa", .length) != nil
      || reader.has("anchor_a", .number) && !reader.has("range", .length)
    let value = try reader.require(isDifference ? "tdoa" : "range", .length)
    let first = try reader.require(isDifference ? "anchor_a" : "anchor")
    let second = isDifference ? try reader.require("anchor_b") : nil
    let sigmaColumn = reader.find("sigma", .length)
    let biasColumn = reader.find("bias_sigma", .length)
    if isDifference, calibration != nil {
      throw LabError(
        .badTable, "A calibration of distances does not apply to differences (tdoa).",
        suggestion: "Leave out --calibration, or give ranges.")
    }
    var calibrator = try RangeCalibrator(calibration, &reader)
    let path = try calibration?.path.map { learned throws(LabError) in
      try PathColumns(&reader, learned)
    }
    var sources: [String: Int] = [:]
    func source(_ anchor: String) -> Int {
      let number = sources[anchor] ?? sources.count
      sources[anchor] = number
      return number
    }
    for row in 0..<reader.table.rowCount {
      var status = RowStatus.ok
      let peer = reader.peer(row)
      let time = reader.value(row, timeColumn, &status)
      let measured = reader.value(row, value, &status)
      var index = byPeer[peer]?.last ?? -1
      if time == nil || index < 0 || rows[index].time != time {
        index = rows.count
        rows.append(ComputedRow(row: row, peer: peer, time: time))
        samples.append([])
        if time != nil { byPeer[peer, default: []].append(index) }
      }
      let (a, b) = (reader.text(row, first), second.map { reader.text(row, $0) })
      let from = anchors.byName[a]
      let to = b.map { anchors.byName[$0] } ?? from
      guard let time, let measured, let from, let to else {
        status.blame(.unknown("anchor"))
        for name in [a, b] {
          if let name, anchors.byName[name] == nil { unknown[name, default: 0] += 1 }
        }
        if rows[index].state.isOK { rows[index].state = status }
        continue
      }
      guard
        let corrected = calibrator.corrected(
          measured, row, anchor: a, peer: peer, time: time, reader, &status)
      else {
        if rows[index].state.isOK { rows[index].state = status }
        continue
      }
      let number = source(b ?? a)
      if corrected.deviation > 0 {
        errors[number] = max(errors[number] ?? 0, corrected.deviation)
      }
      // The tracker already assumes constant errors of ranges.
      let deviation = reader.deviation(row, sigmaColumn, constant: biasColumn, usual: sigma)
      let blocked = path?.probability(row, distance: measured, reader)
      let effect = path?.model.effect(probability: blocked, on: deviation * deviation, slow: 1)
      let observation = PositionObservation(
        isDifference ? .difference(from.position, to.position) : .range(from.position),
        corrected.range - (effect?.excess ?? 0) - (isDifference ? to.bias - from.bias : from.bias),
        standardDeviation: effect?.variance.squareRoot() ?? deviation)
      samples[index].append(
        PositionSample(
          time: time, observation: observation, source: number,
          reference: isDifference ? source(a) : nil))
    }
    for (row, samples) in zip(rows, samples) { used[row.row] = samples.count }
  }

  /// The error for unknown anchors.
  var missing: LabError? {
    guard !unknown.isEmpty else { return nil }
    let names = unknown.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let list = names.prefix(5).map { "\($0.key.isEmpty ? "(no name)" : $0.key) (\($0.value) rows)" }
    return LabError(
      .badTable,
      "The file does not have the anchors of some rows: " + list.joined(separator: ", ")
        + (names.count > 5 ? " and \(names.count - 5) more." : "."),
      suggestion:
        "Add their positions to the file of --anchors, or take their rows out of the table.")
  }

  /// Follows each peer.
  mutating func track(with smoother: PositionSmoother, live: Bool) {
    for indices in byPeer.values {
      let order = indices.sorted { (rows[$0].time ?? 0) < (rows[$1].time ?? 0) }
      var track = smoother.path(order.flatMap { samples[$0] }, live: live)[...]
      for index in order {
        let points = track.prefix(samples[index].count)
        track = track.dropFirst(points.count)
        rows[index].value = points.last.flatMap { $0?.estimate }
        used[rows[index].row] = points.count { $0?.isAccepted == true }
      }
    }
  }

  /// Sets the status of each epoch that has measurements; problems of single rows are dropped then.
  mutating func setStatuses() {
    for index in rows.indices where !samples[index].isEmpty {
      rows[index].state = status(of: rows[index])
    }
  }

  private func status(of row: ComputedRow<PositionEstimate>) -> RowStatus {
    guard let estimate = row.value else { return .noPosition }
    if used[row.row] == 0 { return .result("rejected") }
    let names: [(GeometryWarnings, String)] = [
      (.inconsistent, "inconsistent"), (.mirror, "mirror"), (.coplanar, "coplanar"),
      (.dilution, "dilution"),
    ]
    let words = names.compactMap { estimate.warnings.contains($0.0) ? $0.1 : nil }
    return words.isEmpty ? .ok : .result(words.joined(separator: "+"))
  }
}
