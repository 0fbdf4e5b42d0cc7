// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Ranging
import UWBLab

struct CalibratePath: ResultCommand {
  static let configuration = CommandConfiguration(
    commandName: "path",
    abstract: "Learn how diagnostics indicate that the direct path is blocked.",
    discussion: """
      --from reads a table of labelled measurements: nlos (1 or 0, NLOS or LOS), room, and any of \
      rx_power_dbm, fp_power_dbm, peak_over_fp_db, fp_snr_db, peak_delay_ns, sts_delay_ns [, \
      range_m, truth_m]. --column adds others, such as values of a window of the impulse response; \
      compute finds them by the same names. range_m gives the expected level, and together with \
      truth_m the mean error of distances on blocked paths.
        uwblab calibrate path --from labelled.csv --output board.json

      Measure in several rooms, and in each at many positions with and without obstacles. The \
      command prints the share of paths that a model of the other rooms classifies correctly in \
      each room (the mean of both kinds). It writes nothing if the model is not better than the \
      fixed rules.

      Output: path with inputs, coefficients, rooms and blocked_error, as used by range and by \
      compute filter and locate with --calibration. Probabilities count both kinds as equally \
      frequent.
      """)

  @Option(help: "Labelled measurements (CSV); - is standard input.") var from: String
  @OptionGroup var input: TableOptions
  @Option(help: "The column with the kind of path.") var label = "nlos"
  @Option(help: "The column of the rooms.") var room = "room"
  @Option(
    name: .customLong("column"), help: "Another column to learn from; repeatable.")
  var columns: [String] = []
  @OptionGroup(title: "Result") var result: CalibrationResult
  @OptionGroup(title: "Result") var consent: Consent

  func validate() throws {
    try require(!result.write, "Chips have no such table: use --output.")
    try require(
      !columns.contains(label) && !columns.contains(room) && Set(columns).count == columns.count,
      "--column takes other columns than --label and --room, each once.")
  }

  func execute() async throws {
    let table = try await input.reading(from)
    try result.save(
      try await computing(table.work) { [label, room, columns] in
        try PathCalibration(table, label: label, room: room, others: columns) { warn([$0]) }
          .report()
      })
  }
}
