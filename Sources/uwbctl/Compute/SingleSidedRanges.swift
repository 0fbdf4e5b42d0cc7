// SPDX-License-Identifier: Apache-2.0

import Ranging

/// The distances of a table of single-sided exchanges, without calibration.
struct SingleSidedRanges {
  let table: CSVTable
  private(set) var results: [TwoWayDistance?] = []
  private(set) var statuses: [RowStatus] = []
  private(set) var peers: [String] = []
  /// The level of each row without the noise of single frames.
  private(set) var powers: [Double?] = []

  init(_ table: CSVTable, _ parameters: TwoWayParameters) throws(ComputeError) {
    self.table = table
    let columns = [
      try table.require("t1", .ticks), try table.require("t2", .ticks),
      try table.require("t3", .ticks), try table.require("t4", .ticks),
    ]
    let carrierColumn = table.find("cfo", .ratio)
    let peerColumn = table.find("peer", .number)
    let powerColumn = table.find("rx_power", .level)
    let timeColumn = table.find("time", .time)
    // Rounds of a peer before anything was known of its clock: computed when it is.
    var waiting: [String: [(row: Int, exchange: SingleSidedExchange)]] = [:]
    var clocks: [String: ClockOffsetTracker] = [:]
    var levels: [String: LevelTracker] = [:]
    for row in 0..<table.rowCount {
      let peer = peerColumn.map { table.text(row, $0.index) } ?? ""
      peers.append(peer)
      let time = table.value(row, timeColumn)
      powers.append(
        table.value(row, powerColumn).map {
          levels[peer, default: LevelTracker()].update($0, time: time)
        })
      results.append(nil)
      statuses.append(.ok)
      let stamps = columns.map { table.stamp(row, $0, &statuses[row]) }
      guard let t1 = stamps[0], let t2 = stamps[1], let t3 = stamps[2], let t4 = stamps[3] else {
        continue
      }
      let exchange = SingleSidedExchange(
        pollSent: t1, pollReceived: t2, responseSent: t3, responseReceived: t4)
      var clock = clocks[peer] ?? ClockOffsetTracker(parameters)
      // Without times, turns of a counter as short as 32 bits cannot be counted.
      let canCompare = timeColumn == nil ? parameters.counter.bits >= 40 : time != nil
      let hasCompared = canCompare && clock.takePoll(sent: t1, received: t2, time: time)
      if !hasCompared, let carrier = table.value(row, carrierColumn) {
        clock.takeCarrier(ClockOffset(carrier))
      }
      clocks[peer] = clock
      guard let offset = clock.offset else {
        waiting[peer, default: []].append((row, exchange))
        statuses[row].word = RangingFailure.unknownClockOffset.word
        continue
      }
      take(row, exchange, offset, parameters)
      for (earlier, exchange) in waiting[peer] ?? [] {
        statuses[earlier] = .ok
        take(earlier, exchange, offset, parameters)
      }
      waiting[peer] = nil
    }
    // Nothing will be known of these: crystals are within some ppm, and the deviation says so.
    let guess = ClockOffset(0, standardDeviation: 10e-6)
    for (row, exchange) in waiting.values.joined() {
      take(row, exchange, guess, parameters)
      if statuses[row].isOK { statuses[row].word = RangingFailure.unknownClockOffset.word }
    }
  }

  private mutating func take(
    _ row: Int, _ exchange: SingleSidedExchange, _ offset: ClockOffset,
    _ parameters: TwoWayParameters
  ) {
    statuses[row] = .ok
    do throws(RangingFailure) {
      results[row] = try exchange.distance(offset: offset, parameters)
    } catch {
      statuses[row].word = error.word
    }
  }

  /// Takes away what calibration says.
  mutating func take(_ correction: RangeCorrection) {
    for row in results.indices where results[row] != nil {
      if let bias = correction.bias(row, peer: peers[row], power: powers[row], &statuses[row]) {
        correction.take(bias, from: &results[row])
      } else {
        results[row] = nil
      }
    }
  }

  /// The calibration that makes the distances true.
  ///
  /// - Parameter truth: a column in metres, or a number of metres for all rows.
  func learned(truth: String) throws(ComputeError) -> RangingCalibration {
    let column: Column? =
      Double(truth) == nil ? try table.require(truth, .length) : nil
    var numbers: [String: Int] = [:]
    var ranges: [KnownRange] = []
    for row in 0..<table.rowCount where statuses[row].isOK {
      guard let measured = results[row]?.distance,
        let known = column.map({ table.value(row, $0) }) ?? Double(truth)
      else { continue }
      let pair = numbers[peers[row]] ?? numbers.count
      numbers[peers[row]] = pair
      ranges.append(
        KnownRange(measured: measured, truth: known, power: powers[row], pair: pair))
    }
    guard let fit = RangeBiasFit(ranges) else {
      throw .tooLittle("No row has both a distance and its truth.")
    }
    let delays = numbers.mapValues { fit.delays[$0] }
    var result = RangingCalibration()
    result.delay_m = fit.delays.reduce(0, +) / Double(fit.delays.count)
    result.delays_m = numbers.count > 1 ? delays : nil
    result.power_bias = fit.powerBias.knots.map { .init($0) }
    result.residuals = .init(fit.residuals)
    return result
  }
}
