// Filters a table of ranges (CSV with time_s and range_m) and draws the result.

import UWBLab

let file = CommandLine.arguments.dropFirst().first ?? "ranges.csv"
let ranges = try CSVTable(file: file).filteredRanges()
for row in ranges.rows {
  print(row.peer, row.value?.distance ?? .nan, row.status)  // metres
}
try Figure(ranges.charts).write(to: "ranges.svg")
