// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials

@testable import uwbctl

/// A run of `uwbctl compute` over text, with its output taken apart.
struct ComputeRun {
  var header: [String]
  var rows: [[String: String]]

  init(_ arguments: [String], _ input: String) throws {
    let folder = try ComputeFolder()
    defer { folder.remove() }
    try self.init(arguments, input, in: folder)
  }

  init(_ arguments: [String], _ input: String, in folder: ComputeFolder) throws {
    let file = try folder.write(input, to: "in.csv")
    let output = folder.path("out.csv")
    var command = try Compute.parseAsRoot(arguments + [file, "--output", output])
    try command.run()
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

/// A folder of its own for the files of one test.
struct ComputeFolder {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "uwbctl-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func path(_ name: String) -> String { url.appending(path: name).path }

  func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: url.appending(path: name))
    return path(name)
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url.appending(path: name)), as: UTF8.self)
  }

  func remove() { try? FileManager.default.removeItem(at: url) }
}
