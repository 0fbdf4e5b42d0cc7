// SPDX-License-Identifier: Apache-2.0

import Ranging

/// What a calibration takes away from the distances of a table, row by row.
struct RangeCorrection {
  private var delay = 0.0
  private var delays: [String: Double] = [:]
  private var antennas: [BoardAntenna: Double] = [:]
  private var ends: EndColumns?
  private var powerBias: PowerBias
  /// Metres by which known distances still erred after calibration; noise and what changes with the
  /// place.
  private var residual = 0.0

  /// Only what the received level adds.
  init(_ powerBias: PowerBias) { self.powerBias = powerBias }

  /// - Parameter path: of the file, for errors.
  init(
    _ calibration: RangingCalibration, _ table: CSVTable, path: String
  ) throws(ComputeError) {
    delay = calibration.delay_m ?? 0
    delays = calibration.delays_m ?? [:]
    powerBias = calibration.powerBias
    residual = calibration.residuals?.rmse_m ?? 0
    for antenna in calibration.antenna_delays ?? [] { antennas[antenna.name] = antenna.delay_m }
    let hasDelay = calibration.delay_m != nil || !delays.isEmpty
    guard hasDelay || !antennas.isEmpty || !powerBias.knots.isEmpty else {
      throw .badFile(path, "it says nothing of distances")
    }
    guard !antennas.isEmpty else { return }
    if table.find("board_a", .number) != nil || !hasDelay { ends = try EndColumns(table) }
  }

  /// Takes a bias away. What is left is no better known than calibration could explain: reflections
  /// and antennas do the rest.
  func take(_ bias: Double, from distance: inout TwoWayDistance?) {
    guard var corrected = distance else { return }
    corrected.distance -= bias
    corrected.standardDeviation = max(corrected.standardDeviation, residual)
    distance = corrected
  }

  /// Metres that the distance of a row is too long by; nil when a board is not known, and `status`
  /// then says which.
  func bias(
    _ row: Int, peer: String, power: Double?, _ status: inout RowStatus
  ) -> Double? {
    var sum = power.map { powerBias.bias(at: $0) } ?? 0
    guard let ends else { return sum + (delays[peer] ?? delay) }
    for (column, antenna) in [("board_a", ends.a(row)), ("board_b", ends.b(row))] {
      guard let metres = antennas[antenna] else {
        status = RowStatus(word: "unknown_\(column)")
        return nil
      }
      sum += metres
    }
    return sum
  }
}

/// The columns that say which antennas of which boards measured: `board_a`, `board_b` and, where
/// they are not 0 of channel 9, `antenna_a`, `antenna_b` and `channel`.
struct EndColumns {
  private let table: CSVTable
  private let boards: (a: Column, b: Column)
  private let antennas: (a: Column?, b: Column?)
  private let channel: Column?

  init(_ table: CSVTable) throws(ComputeError) {
    self.table = table
    boards = (try table.require("board_a", .number), try table.require("board_b", .number))
    antennas = (table.find("antenna_a", .number), table.find("antenna_b", .number))
    channel = table.find("channel", .number)
  }

  func a(_ row: Int) -> BoardAntenna { end(row, boards.a, antennas.a) }
  func b(_ row: Int) -> BoardAntenna { end(row, boards.b, antennas.b) }

  private func end(_ row: Int, _ board: Column, _ antenna: Column?) -> BoardAntenna {
    BoardAntenna(
      table.text(row, board.index),
      channel: channel.flatMap { table.whole(row, $0.index) }.flatMap { Int(exactly: $0) } ?? 9,
      antenna: antenna.flatMap { table.whole(row, $0.index) }.flatMap { Int(exactly: $0) } ?? 0)
  }
}
