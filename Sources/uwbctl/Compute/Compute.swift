// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `uwbctl compute`: the estimation core over recorded data, a table in and a table out.
struct Compute: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Distances, angles and positions from recorded tables (CSV).",
    discussion: """
      Columns are found by their names, in any order; the end of a name is its unit (time_s or \
      time_ms, range_m or range_cm, azimuth_rad or azimuth_deg). Every column of the input is in \
      the output, followed by the computed ones. A row that cannot be computed stays, with empty \
      cells and the reason as its status.
      """,
    subcommands: [
      ComputeDSTWR.self, ComputeSSTWR.self, ComputeFilter.self, ComputeAngle.self,
      ComputeLocate.self, ComputeFind.self,
    ])
}
