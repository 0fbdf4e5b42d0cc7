// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SystemPackage

/// Where a table comes from and goes to.
struct ComputeFiles: ParsableArguments {
  @Argument(help: "A CSV file; - or nothing: standard input.") var file: String?
  @Option(name: .shortAndLong, help: "Where to write the table (default: standard output).")
  var output: String?

  func table() throws(ComputeError) -> CSVTable {
    try CSVTable(try ComputeFiles.read(file))
  }

  func writer(_ table: CSVTable, adding columns: [String]) throws(ComputeError) -> CSVWriter {
    try CSVWriter(table, to: output, adding: columns)
  }

  /// All of a file, or of standard input.
  static func read(_ path: String?) throws(ComputeError) -> [UInt8] {
    let name = path ?? "-"
    do {
      let descriptor =
        name == "-" ? FileDescriptor.standardInput : try .open(FilePath(name), .readOnly)
      defer { if name != "-" { try? descriptor.close() } }
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 20)
      while true {
        let count = try chunk.withUnsafeMutableBytes { try descriptor.read(into: $0) }
        if count == 0 { return bytes }
        bytes.append(contentsOf: chunk[..<count])
      }
    } catch { throw .unreadable(name == "-" ? "standard input" : name, "\(error)") }
  }
}
