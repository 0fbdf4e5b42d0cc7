// SPDX-License-Identifier: Apache-2.0

import Estimators
import Ranging

/// Measured distances with their truth, by peer.
struct KnownRanges {
  private(set) var list: [KnownRange] = []
  private var numbers: [String: Int] = [:]

  mutating func add(peer: String, measured: Double, truth: Double, power: Double?) {
    let pair = numbers[peer] ?? numbers.count
    numbers[peer] = pair
    list.append(KnownRange(measured: measured, truth: truth, power: power, pair: pair))
  }

  /// Converts the fit of these to a calibration.
  func calibration(_ fit: RangeBiasFit) -> RangingCalibration {
    var result = RangingCalibration()
    result.delay = fit.delays.reduce(0, +) / Double(fit.delays.count)
    result.peerDelays = numbers.count > 1 ? numbers.mapValues { fit.delays[$0] } : nil
    result.powerBias = fit.powerBias
    result.residuals = .init(
      fit.residuals, positions: fit.positions, positionDeviation: fit.positionDeviation)
    return result
  }
}

/// The correction of the distances of a table by a calibration, row by row.
struct RangeCorrection {
  private var delays: [String: RangingCalibration.Delay] = [:]
  /// The delay of other peers.
  private var otherDelay = (metres: 0.0, deviation: 0.0)
  private var antennas: [BoardAntenna: RangingCalibration.Antenna] = [:]
  /// The sums of both ends, where only these are known.
  private let sums: [[BoardAntenna]: RangingCalibration.PairDelay]
  private var ends: EndColumns?
  private let powerBias: PowerBias
  /// The calibration; nil: only the bias by received level.
  private var calibration: RangingCalibration?

  init(_ powerBias: PowerBias) { (self.powerBias, sums) = (powerBias, [:]) }

  init(_ calibration: RangingCalibration, _ reader: inout TableReader) throws(LabError) {
    self.calibration = calibration
    delays = calibration.delaysOfPeers()
    otherDelay = calibration.delayOfOthers(than: delays)
    powerBias = calibration.powerBias
    for antenna in calibration.antennaDelays ?? [] { antennas[antenna.name] = antenna }
    sums = calibration.sums
    let hasDelay = calibration.delay != nil || !delays.isEmpty
    guard calibration.hasDistances else {
      throw LabError(.badFile, "The calibration has no delays and no power bias.")
    }
    guard !antennas.isEmpty || !sums.isEmpty else { return }
    if reader.find("board_a") != nil || !hasDelay { ends = try EndColumns(&reader) }
  }

  func apply(
    to row: inout ComputedRow<TwoWayDistance>, _ index: Int, power: Double?, _ reader: TableReader
  ) {
    guard let distance = row.value else { return }
    row.value = applied(
      to: distance, index, peer: row.peer, power: power, reader, &row.state)
  }

  /// Returns the corrected distance; nil when a board is unknown, and `status` then names it.
  private func applied(
    to distance: TwoWayDistance, _ row: Int, peer: String, power: Double?,
    _ reader: TableReader, _ status: inout RowStatus
  ) -> TwoWayDistance? {
    guard let bias = bias(row, peer: peer, power: power, reader, &status) else { return nil }
    if let calibration {
      return calibration.corrected(distance, by: bias.metres, deviation: bias.deviation)
    }
    var corrected = distance
    corrected.distance -= bias.metres
    return corrected
  }

  /// Returns the correction of a distance, with its deviation; nil when a board is unknown.
  fileprivate func bias(
    _ row: Int, peer: String, power: Double?, _ reader: TableReader, _ status: inout RowStatus
  ) -> (metres: Double, deviation: Double)? {
    let level = power.map { powerBias.bias(at: $0) } ?? 0
    guard let ends else {
      let delay = delays[peer] ?? otherDelay
      return (level + delay.metres, delay.deviation)
    }
    let (a, b) = ends.antennas(row, reader)
    guard let first = antennas[a], let second = antennas[b] else {
      if let sum = sums[[a, b].sorted()] {
        return (level + sum.delay, sum.standardDeviation ?? 0)
      }
      status = .unknown(antennas[a] == nil ? "board_a" : "board_b")
      return nil
    }
    let (one, other) = (first.standardDeviation ?? 0, second.standardDeviation ?? 0)
    return (
      level + first.delay + second.delay, (one * one + other * other).squareRoot()
    )
  }
}

/// Corrects ranges of a table by a calibration, if there is one.
struct RangeCalibrator {
  private var correction: RangeCorrection?
  /// The remaining deviation of the constant error, in metres; nil without calibration.
  let deviation: Double?
  private let power: Column?
  private var levels = RecentPeers<LevelTracker>()

  init(_ calibration: RangingCalibration?, _ reader: inout TableReader) throws(LabError) {
    power = reader.find("rx_power", .level)
    // A file may have only a model of blocked paths.
    let isOfPaths = calibration?.path != nil && calibration?.hasDistances == false
    let calibration = isOfPaths ? nil : calibration
    deviation = calibration?.biasDeviation
    if let calibration { correction = try RangeCorrection(calibration, &reader) }
  }

  /// Returns the range to a peer without its bias, and the additional deviation beyond `deviation`.
  /// Nil when a board is unknown; `status` then names it.
  ///
  /// - Parameter anchor: the other end, where `peer` is being located.
  mutating func corrected(
    _ range: Double, _ row: Int, anchor: String? = nil, peer: String, time: Double,
    _ reader: TableReader, _ status: inout RowStatus
  ) -> (range: Double, deviation: Double)? {
    guard let correction else { return (range, 0) }
    let level = reader.value(row, power).map { level in
      levels.update(peer + "\n" + (anchor ?? ""), from: LevelTracker()) {
        $0.update(level, time: time)
      }
    }
    guard
      let bias = correction.bias(row, peer: anchor ?? peer, power: level, reader, &status)
    else { return nil }
    return (range - bias.metres, bias.deviation)
  }
}

/// The columns of the measuring boards and antennas: `board_a`, `board_b` and, where they are not 0
/// of channel 9, `antenna_a`, `antenna_b` and `channel`.
struct EndColumns {
  private let boards: (a: Column, b: Column)
  private let antennas: (a: Column?, b: Column?)
  private let channel: Column?

  init(_ reader: inout TableReader) throws(LabError) {
    boards = (try reader.require("board_a"), try reader.require("board_b"))
    antennas = (reader.find("antenna_a"), reader.find("antenna_b"))
    channel = reader.find("channel")
  }

  func antennas(_ row: Int, _ reader: TableReader) -> (a: BoardAntenna, b: BoardAntenna) {
    (end(row, reader, boards.a, antennas.a), end(row, reader, boards.b, antennas.b))
  }

  private func end(
    _ row: Int, _ reader: TableReader, _ board: Column, _ antenna: Column?
  ) -> BoardAntenna {
    func number(_ column: Column?) -> Int? {
      column.flatMap { reader.table.integer(row, $0.index) }.flatMap { Int(exactly: $0) }
    }
    return BoardAntenna(
      reader.text(row, board), channel: number(channel) ?? 9, antenna: number(antenna) ?? 0)
  }
}
