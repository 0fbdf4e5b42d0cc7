// SPDX-License-Identifier: Apache-2.0
package import Estimators
import Ranging

/// A wheeled robot among walls, with a module in each corner: Tim Pfeifer, TU Chemnitz, in
/// TUC-ProAut/libRSF (CC BY-SA 4.0). Nearly every range passes a wall.
package struct Labyrinth {
  package private(set) var samples: [PositionSample] = []
  /// The modules' true position at each sample, in their plane.
  package private(set) var truth: [SIMD3<Double>] = []

  /// Returns nil if the recording does not exist.
  package init?(_ recordings: Recordings) {
    let folder = recordings.folder + "/labyrinth"
    guard recordings.has("labyrinth"),
      let input = RecordedTable(folder + "/Indoor_UWB_Input.txt", hasHeader: false, separator: " "),
      let known = RecordedTable(folder + "/Indoor_UWB_GT.txt", hasHeader: false, separator: " ")
    else { return nil }
    // Lines of odometry have another number of values.
    let ranges = input.rows.filter { $0.count == 8 }
    guard ranges.count == known.rows.count else { return nil }
    let names = Set(ranges.map { $0[6] }).sorted()
    samples = ranges.map { row in
      PositionSample(
        time: row[1],
        observation: PositionObservation(.range(SIMD3<Double>(row[4], row[5], 0)), row[2]),
        source: names.firstIndex(of: row[6]) ?? 0)
    }
    truth = known.rows.map { SIMD3<Double>($0[2], $0[3], 0) }
  }
}
