// SPDX-License-Identifier: Apache-2.0
import RangingScenes

/// The errors of the library in simulations with fixed seeds and in public recordings.
enum Accuracy {
  /// Prints figures. Returns whether every figure is within the limits of its aim.
  ///
  /// - Parameters:
  ///   - only: the figures to measure, such as M1; empty: all figures.
  ///   - page: a page of documentation whose tables are replaced.
  static func run(
    _ settings: Settings, datasets: String?, only: [String], page: String? = nil
  ) -> Bool {
    let recordings = Recordings(datasets)
    let groups: [(ids: [String], rows: () -> [AccuracyFigure])] = [
      (["T1", "T2", "T3", "T4"], { TwoWayFigures.rows(settings) }),
      (["T5"], { OutdoorFigures.stands(recordings) }),
      (["P1", "P2"], { PathFigures.rows(settings, recordings) }),
      (["A1", "A2", "A3", "A4", "A5", "A6"], { AngleFigures.rows(settings) }),
      (["F1"], { FilterFigures.rows(settings) }),
      (["D1", "D2"], { FlightFigures.rows() }),
      (["F2", "L1", "L2", "M1"], { TrolleyFigures.rows(recordings) }),
      (["L3", "L4"], { FindFigures.rows(settings) }),
      (["M2"], { OutdoorFigures.walks(recordings) }),
      (["M3"], { LabyrinthFigures.rows(recordings) }),
    ]
    func isWanted(_ id: String) -> Bool { only.isEmpty || only.contains(id) }
    let figures = groups.filter { $0.ids.contains(where: isWanted) }.flatMap { $0.rows() }
      .filter { isWanted($0.id) }
    print("\n" + AccuracyFigure.table(figures).joined(separator: "\n"))
    var isWell = figures.allSatisfy(\.isTolerable)
    if let page, !AccuracyFigure.write(figures, to: page) {
      print("\(page) lacks a table of a figure, as from <!-- accuracy F1 F2: begin --> to its end.")
      isWell = false
    }
    guard only.isEmpty else { return isWell }
    Sensitivity.run(recordings)
    for (name, missing) in [
      ("hanyang", "T5, M2 and P1"), ("labyrinth", "M3"),
      ("lias", "F2, L1, L2, M1 and what constants do"),
    ] where !recordings.has(name) {
      print("\(missing) were not measured: there is no \(recordings.folder)/\(name).")
    }
    return isWell
  }
}
