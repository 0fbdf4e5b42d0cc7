// SPDX-License-Identifier: Apache-2.0

import UWBLab
import UWBTestSupport

extension CSVTable {
  init(text: String) throws { try self.init([UInt8](text.utf8)) }
}

/// The parts of a computed table as it is written.
struct ComputedText {
  var header: [String]
  var rows: [[String: String]]

  init<Value>(_ table: ComputedTable<Value>) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try table.write(to: folder.path("out.csv"))
    let lines = try folder.read("out.csv").split(separator: "\n").map(String.init)
    header = lines[0].split(separator: ",").map(String.init)
    rows = lines.dropFirst().map { [header] line in
      let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      return Dictionary(uniqueKeysWithValues: zip(header, cells))
    }
  }

  func column(_ name: String) -> [String] { rows.map { $0[name] ?? "no such column" } }

  func numbers(_ name: String) -> [Double] { column(name).map { Double($0) ?? .nan } }
}
