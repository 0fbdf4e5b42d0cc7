// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct Compute: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compute distances, angles and positions from recorded tables (CSV).",
    discussion: """
      Columns are found by name, in any order; the suffix of a name is its unit (time_s or time_ms, \
      range_m or range_cm, azimuth_rad or azimuth_deg). The output has every column of the input, \
      followed by the computed ones. A row that cannot be computed has empty cells and the reason \
      as its status.
      """,
    subcommands: [
      ComputeDSTWR.self, ComputeSSTWR.self, ComputeFilter.self, ComputeAngle.self,
      ComputeLocate.self, ComputeFind.self,
    ])
}
