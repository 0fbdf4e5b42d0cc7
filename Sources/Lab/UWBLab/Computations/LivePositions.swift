// SPDX-License-Identifier: Apache-2.0

import Estimators
package import Ranging
import System

extension Anchors {
  /// Reads a table row by row, and writes the position of each epoch when it is known: after the
  /// first row of another time, and in the first second of a peer after this second. Ends with the
  /// table, or when the task is cancelled.
  ///
  /// - Parameters: as of `CSVTable.positions` and `RowComputation.run`.
  /// - Returns: sentences about rows and columns that could not be used.
  /// - Throws: `LabError`, also when nothing could be computed.
  package func locate(
    from input: String?, to output: String?, _ format: CSVTable.Format, sigma: Double,
    height: Double?, acceleration: Double?, calibration: RangingCalibration?
  ) throws(LabError) -> [String] {
    guard byName.count <= 1000 else {
      throw LabError(.badFile, "The file has \(byName.count) anchors; a path has up to 1000.")
    }
    var rows = try TableRows(input, to: output, format)
    let columns = try AnchorColumns(TableReader(rows.table), sigma: sigma, calibration)
    let brief = columns.hasPeersAsAnchors ? ["time"] : ["time", "peer"]
    let errors = errors(calibration, hasUnknownDelays: columns.hasUnknownDelays)
    var positions = LivePositions(
      columns, self, PositionSmoother(prior(height), acceleration, errors),
      try ComputedWriter(
        to: output, rows.table, .positions,
        brief: OutputFile.isTerminal(output ?? "-") ? brief : nil))
    do throws(LabError) {
      while try rows.next(beforeWaiting: { () throws(LabError) in try positions.flush() }) {
        try positions.add(rows.table)
      }
      try positions.write(until: .infinity)
    } catch {
      if error.code != .outputClosed { try positions.finish() }
      throw error
    }
    try positions.finish()
    return try positions.warnings(rows.table)
  }
}

/// The positions of a table whose rows arrive one by one.
private struct LivePositions {
  /// The rows of one peer at one time.
  private struct Epoch {
    /// A table with the first row.
    var table: CSVTable
    var row: ComputedRow<PositionEstimate>
    var samples: [PositionSample] = []
    var errors: [Int: Double] = [:]
    /// Whether its samples were given to the follower.
    var isClosed = false
    /// Whether its position is known, or will not be.
    var isDone = false
  }

  private var columns: AnchorColumns
  private let anchors: Anchors
  private let smoother: PositionSmoother
  private var writer: ComputedWriter<PositionEstimate>
  private var followers: RecentPeers<PositionFollower>
  /// The epochs that are not written yet, in the order of their first rows.
  private var epochs: [Epoch] = []
  /// The time of the epochs that are not closed.
  private var time: Double?
  private var problems = RowProblems()
  /// As in `Epochs`.
  private var surplus = 0
  private var unknown: [String: Int] = [:]
  private var (total, computed) = (0, 0)
  private var first: (line: Int, status: RowStatus)?

  init(
    _ columns: AnchorColumns, _ anchors: Anchors, _ smoother: PositionSmoother,
    _ writer: consuming ComputedWriter<PositionEstimate>
  ) {
    (self.columns, self.anchors, self.smoother) = (columns, anchors, smoother)
    self.writer = writer
    let states = 6 + 2 * anchors.byName.count
    followers = RecentPeers(limit: max(4, (1 << 22) / (states * states)))
  }

  /// Adds a row, and writes the epochs whose positions are known with it.
  mutating func add(_ table: CSVTable) throws(LabError) {
    total += 1
    columns.reader.table = table
    let measured = columns.take(0, anchors)
    for name in measured.unknown { unknown[name, default: 0] += 1 }
    if let next = measured.time, next != time {
      close()
      time = next
      // Ever new times within a second would need ever more memory.
      try write(until: epochs.count > 10_000 ? .infinity : next)
    }
    let index = index(of: measured, table)
    guard let sample = measured.sample else {
      if epochs[index].row.state.isOK { epochs[index].row.state = measured.status }
      return
    }
    epochs[index].samples.append(sample)
    if measured.deviation > 0 { epochs[index].errors[sample.source] = measured.deviation }
    if epochs[index].samples.count > 10_000 { close() }
  }

  /// Returns the index of the epoch of a row, which may be a new one.
  private mutating func index(of measured: AnchorColumns.Measured, _ table: CSVTable) -> Int {
    if measured.time != nil,
      let open = epochs.lastIndex(where: {
        !$0.isClosed && $0.row.time == measured.time && $0.row.peer == measured.peer
      })
    {
      return open
    }
    epochs.append(
      Epoch(
        table: table, row: ComputedRow(row: 0, peer: measured.peer, time: measured.time)))
    return epochs.count - 1
  }

  /// Gives the samples of the last time to the followers.
  private mutating func close() {
    for index in epochs.indices.reversed() {
      if epochs[index].isClosed { break }
      epochs[index].isClosed = true
      let epoch = epochs[index]
      let samples = epoch.samples.withoutSurplus
      surplus += epoch.samples.count - samples.count
      guard !epoch.samples.isEmpty else {
        epochs[index].isDone = true
        continue
      }
      let first = PositionFollower(smoother, sources: anchors.byName.count)
      let isLater = followers.update(epoch.row.peer, from: first) {
        $0.add(samples, errors: epoch.errors)
      }
      guard !isLater else { continue }
      epochs[index].row.state = .result("out_of_order")
      epochs[index].isDone = true
    }
  }

  /// Writes the first epochs, as far as their positions are known.
  ///
  /// - Parameter now: the time up to which all rows were added; infinity at the end.
  mutating func write(until now: Double) throws(LabError) {
    if now == .infinity { close() }
    while let head = epochs.first, head.isClosed {
      if !head.isDone { resolve(head.row.peer, until: now) }
      guard epochs[0].isDone else { return }
      let done = epochs.removeFirst()
      let line = done.table.line(0)
      problems.add(done.row.state, line: line)
      first = first ?? (line, done.row.state)
      if done.row.value != nil { computed += 1 }
      try writer.add(done.row, of: done.table)
    }
  }

  /// Sets the positions of a peer that are known by now.
  private mutating func resolve(_ peer: String, until now: Double) {
    let initial = PositionFollower(smoother, sources: anchors.byName.count)
    let (results, isWaiting) = followers.update(peer, from: initial) {
      ($0.results(until: now), $0.isWaiting)
    }
    var rest = results[...]
    for index in epochs.indices
    where epochs[index].isClosed && !epochs[index].isDone && epochs[index].row.peer == peer {
      let result = rest.popFirst()
      // A peer that was forgotten meanwhile has no results any more.
      if result == nil, isWaiting { return }
      epochs[index].row.value = result?.estimate
      epochs[index].row.used = result?.used ?? 0
      epochs[index].row.setPositionStatus()
      epochs[index].isDone = true
    }
  }

  mutating func flush() throws(LabError) { try writer.flush() }

  mutating func finish() throws(LabError) { try writer.finish() }

  /// Returns sentences about rows and columns that could not be used.
  func warnings(_ table: CSVTable) throws(LabError) -> [String] {
    let (isCut, warnings) = (Task.isCancelled, columns.reader.warnings)
    guard let first else {
      if isCut { return warnings }
      throw .noRows(table)
    }
    let columnsBesidePeers = columns.hasPeersAsAnchors ? table.header : nil
    if let missing = Anchors.missing(unknown, besidePeers: columnsBesidePeers) { throw missing }
    let others = try problems.warnings(for: table, of: total)
    if computed == 0, !isCut {
      throw .nothingComputed(of: total, firstLine: first.line, first.status)
    }
    return warnings + others + Anchors.warnings(surplus: surplus)
  }
}
