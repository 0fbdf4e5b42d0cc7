// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBTestSupport
import UWBLab

@Suite(.computes) struct FilteredRangeTests {
  private let table = """
    peer,range_cm,time_ms,place
    a,400,0,x
    b,900,0,x
    a,401,100,
    a,9000,200,"y, z"
    b,,100,x
    a,399,300,x
    b,901,200,x
    a,400,400,x
    """

  @Test(arguments: [false, true])
  func peersAreFilteredSeparately(live: Bool) throws {
    let text = table.split(separator: "\n").filter { !$0.contains("y, z") }.joined(separator: "\n")
    let run = try ComputedText(try CSVTable(text: text).filteredRanges(live: live))
    #expect(
      run.header == [
        "peer", "range_cm", "time_ms", "place", "range_m", "sigma_m", "accepted", "status",
      ])
    #expect(run.column("accepted") == ["1", "1", "1", "0", "1", "1", "1"])
    #expect(run.column("status")[3] == "missing_range_cm")
    for (peer, range) in zip(run.column("peer"), run.numbers("range_m")) where !range.isNaN {
      #expect(abs(range - (peer == "a" ? 4 : 9)) < 0.05)
    }
  }

  @Test func outliersAreMarked() throws {
    var text = "time_s,range_m,rx_power_dbm,fp_power_dbm\n"
    for step in 0..<50 {
      text += "\(1_734_501_485.3 + Double(step) / 10),\(step == 20 ? 88 : 5),-80,-82\n"
    }
    let run = try ComputedText(try CSVTable(text: text).filteredRanges())
    #expect(
      run.column("accepted").enumerated().allSatisfy { ($0.element == "1") == ($0.offset != 20) })
    #expect(run.column("status")[20] == "outlier" && run.column("input_range_m")[20] == "88")
    #expect(run.numbers("range_m").allSatisfy { abs($0 - 5) < 0.001 })
  }
}
