// SPDX-License-Identifier: Apache-2.0

import Ranging

/// What a calibration subtracts from the distances of a table, row by row.
struct RangeCorrection {
  private var delay = 0.0
  private var delays: [String: Double] = [:]
  private var antennas: [BoardAntenna: Double] = [:]
  private var ends: EndColumns?
  private let powerBias: PowerBias
  /// Metres by which known distances still erred after calibration: noise, and what changes with the
  /// position.
  private var residual = 0.0

  /// Only what the received level adds.
  init(_ powerBias: PowerBias) { self.powerBias = powerBias }

  init(_ calibration: RangingCalibration, _ reader: inout TableReader) throws(LabError) {
    delay = calibration.delay ?? 0
    delays = calibration.peerDelays ?? [:]
    powerBias = calibration.powerBias
    residual = calibration.residuals?.rms ?? 0
    for antenna in calibration.antennaDelays ?? [] { antennas[antenna.name] = antenna.delay }
    let hasDelay = calibration.delay != nil || !delays.isEmpty
    guard hasDelay || !antennas.isEmpty || !powerBias.knots.isEmpty else {
      throw LabError(.badFile, "The calibration has no delays and no power bias.")
    }
    guard !antennas.isEmpty else { return }
    if reader.find("board_a") != nil || !hasDelay { ends = try EndColumns(&reader) }
  }

  /// The corrected distance; nil when a board is unknown, and `status` then says which.
  ///
  /// It is no better known than calibration could explain: reflections and antennas do the rest.
  func applied(
    to distance: TwoWayDistance, _ row: Int, peer: String, power: Double?,
    _ reader: TableReader, _ status: inout RowStatus
  ) -> TwoWayDistance? {
    var bias = power.map { powerBias.bias(at: $0) } ?? 0
    if let ends {
      let (a, b) = (ends.a(row, reader), ends.b(row, reader))
      guard let first = antennas[a], let second = antennas[b] else {
        status.word = antennas[a] == nil ? "unknown_board_a" : "unknown_board_b"
        return nil
      }
      bias += first + second
    } else {
      bias += delays[peer] ?? delay
    }
    var corrected = distance
    corrected.distance -= bias
    corrected.standardDeviation = max(corrected.standardDeviation, residual)
    return corrected
  }
}

/// The columns that say which antennas of which boards measured: `board_a`, `board_b` and, where
/// they are not 0 of channel 9, `antenna_a`, `antenna_b` and `channel`.
struct EndColumns {
  private let boards: (a: Column, b: Column)
  private let antennas: (a: Column?, b: Column?)
  private let channel: Column?

  init(_ reader: inout TableReader) throws(LabError) {
    boards = (try reader.require("board_a"), try reader.require("board_b"))
    antennas = (reader.find("antenna_a"), reader.find("antenna_b"))
    channel = reader.find("channel")
  }

  func a(_ row: Int, _ reader: TableReader) -> BoardAntenna {
    end(row, reader, boards.a, antennas.a)
  }

  func b(_ row: Int, _ reader: TableReader) -> BoardAntenna {
    end(row, reader, boards.b, antennas.b)
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
